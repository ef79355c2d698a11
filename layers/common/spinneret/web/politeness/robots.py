"""robots.txt by RFC 9309, as forgiving as the parser of its authors (google/robotstxt).

    parse(content).allows("https://site.example/page", "Spinneret")

What that parser does beyond the RFC is marked "Google" where it is done here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from spinneret.kernel import bounds
from spinneret.web.politeness.robots_lines import Field, read_lines
from spinneret.web.politeness.robots_paths import Patterns, Target, compile_patterns, target_of

_ANYBODY: Final = "*"
_ROBOTS_PATH: Final = "/robots.txt"
_BEHIND_TOKEN: Final = re.compile(r"[^A-Za-z_-].*", re.DOTALL)  # RFC 9309, section 2.2.1
_ANYBODY_AND_MORE: Final = re.compile(rb"\*(?:\s|$)")  # Google: "* and words" means "*"
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_DECIMAL: Final = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_HTTP_URL: Final = re.compile(r"https?://[^/?#\s]\S*", re.IGNORECASE)


@dataclass(kw_only=True)
class _Section:
    """Agents that are named together, and their rules; filled while the file is read."""

    tokens: set[str] = field(default_factory=set)
    allows: list[str] = field(default_factory=list)
    disallows: list[str] = field(default_factory=list)
    crawl_delay: float | None = None
    closed: bool = False
    """The next agent line begins another one."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    """All rules for one agent."""

    allows: Patterns
    disallows: Patterns
    crawl_delay: float | None

    def permits(self, target: Target) -> bool:
        """The rule with the most octets wins, Allow in a tie (RFC 9309, section 2.2.2)."""
        disallowed = self.disallows.longest_match(target.normal)
        return not disallowed or any(
            self.allows.longest_match(form) >= disallowed for form in target.written
        )


@dataclass(frozen=True, kw_only=True)
class Robots:
    """The robots.txt of one origin."""

    sitemaps: tuple[str, ...]
    """Absolute http(s) URLs in their order, each once."""
    _sections: Sequence[_Section] = field(repr=False)
    _groups: dict[str, _Group] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Those asked for: it takes longer to build one than to use it."""

    def allows(self, url: str, product_token: str) -> bool:
        """Whether the agent may fetch the URL; a path alone will do.

        The token is compared as a whole: cut it from a User-Agent with `product_token_of`.
        """
        target = target_of(url)
        return target.normal == _ROBOTS_PATH or self._group(product_token).permits(target)

    def crawl_delay(self, product_token: str) -> float | None:
        """Seconds between two requests, finite, 0 or more; the longest if several are given."""
        return self._group(product_token).crawl_delay

    def _group(self, product_token: str) -> _Group:
        """What names the token, merged; what is for anybody if nothing does (section 2.2.1)."""
        token = product_token.lower()
        if token not in self._groups:
            named = [section for section in self._sections if token in section.tokens]
            anybody = [section for section in self._sections if _ANYBODY in section.tokens]
            self._groups[token] = _merged(named or anybody)
        return self._groups[token]


def parse(content: bytes | str) -> Robots:
    """Read a robots.txt; never raises, since whatever isn't understood is passed over."""
    reader = _Reader()
    for kind, value in read_lines(content):
        reader.read(kind, value)
    return Robots(sitemaps=tuple(reader.sitemaps), _sections=tuple(reader.sections))


def product_token_of(user_agent: str) -> str:
    """The part of a User-Agent that robots.txt goes by: `Spinneret` of `Spinneret/1.0 (+…)`."""
    return _BEHIND_TOKEN.sub("", user_agent, count=1)


class _Reader:
    """Sorts the lines into sections.

    An agent line after a rule begins a new group; no other line does (RFC 9309, section 2.2).
    Crawl-delay isn't of the RFC, and it may be the only line of an agent. So each group of agents
    is kept twice: for its rules, and for its delay, which an agent line after it ends too.
    """

    def __init__(self) -> None:
        self.sections: list[_Section] = []
        self.sitemaps: dict[str, None] = {}
        self._ruled = self._new_section()
        self._delayed = self._new_section()

    def read(self, kind: Field, value: bytes) -> None:
        """Take the next line."""
        match kind:
            case Field.USER_AGENT:
                self._name(value)
            case Field.ALLOW:
                self._ruled.allows += _allow_patterns(_in_ascii(value))
                self._ruled.closed = self._delayed.closed = True
            case Field.DISALLOW:
                self._ruled.disallows.append(_in_ascii(value))
                self._ruled.closed = self._delayed.closed = True
            case Field.CRAWL_DELAY:
                self._delayed.crawl_delay = _longest([self._delayed.crawl_delay, _seconds(value)])
                self._delayed.closed = True
            case Field.SITEMAP:
                url = value.decode("utf-8", "replace")
                if _is_sitemap(url) and len(self.sitemaps) < bounds.ROBOTS_SITEMAPS:
                    self.sitemaps[url] = None

    def _name(self, agent: bytes) -> None:
        if self._ruled.closed:
            self._ruled = self._new_section()
        if self._delayed.closed:
            self._delayed = self._new_section()
        token = product_token_of(agent.decode("latin-1")).lower()
        if _ANYBODY_AND_MORE.match(agent):
            token = _ANYBODY
        if token:
            self._ruled.tokens.add(token)
            self._delayed.tokens.add(token)

    def _new_section(self) -> _Section:
        section = _Section()
        self.sections.append(section)
        return section


def _merged(sections: Sequence[_Section]) -> _Group:
    allows = [pattern for section in sections for pattern in section.allows]
    disallows = [pattern for section in sections for pattern in section.disallows]
    return _Group(
        allows=compile_patterns(allows, as_written=True),
        disallows=compile_patterns(disallows, as_written=False),
        crawl_delay=_longest([section.crawl_delay for section in sections]),
    )


def _allow_patterns(pattern: str) -> list[str]:
    """Google: where the index page of a folder is allowed, its bare address is too."""
    folder, slash, page = pattern.rpartition("/")
    if slash and page.startswith("index.htm"):
        return [pattern, f"{folder}/$"]
    return [pattern]


def _in_ascii(value: bytes) -> str:
    """With every other octet escaped, whatever charset it is of."""
    return _BEYOND_ASCII.sub(lambda octet: b"%%%02X" % ord(octet[0]), value).decode("ascii")


def _seconds(value: bytes) -> float | None:
    if not _DECIMAL.fullmatch(value):
        return None
    seconds = float(value)
    return seconds if math.isfinite(seconds) else None


def _longest(delays: Sequence[float | None]) -> float | None:
    return max((delay for delay in delays if delay is not None), default=None)


def _is_sitemap(url: str) -> bool:
    return (
        len(url) <= bounds.URL_MAX_CHARS
        and url.isprintable()
        and _HTTP_URL.fullmatch(url) is not None
    )

"""robots.txt by RFC 9309, as lenient as the parser of its authors (google/robotstxt).

    parse(content).allows("https://site.example/page", "Spinneret")

Behaviour of that parser beyond the RFC is marked "Google" in this code.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.politeness.robots_lines import Field, read_lines
from spinneret.web.politeness.robots_paths import (
    Patterns,
    RobotsTarget,
    compile_patterns,
    target_of,
)

_ANYBODY: Final = "*"
_ROBOTS_PATH: Final = "/robots.txt"
_BEHIND_TOKEN: Final = re.compile(r"[^A-Za-z_-].*", re.DOTALL)  # RFC 9309, section 2.2.1
_ANYBODY_AND_MORE: Final = re.compile(rb"\*(?:\s|$)")  # Google: "* and words" means "*"
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_DECIMAL: Final = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_HTTP_URL: Final = re.compile(r"https?://[^/?#\s]\S*", re.IGNORECASE)


@dataclass(kw_only=True)
class _Section:
    """Agents named together, and their rules; filled while the file is read."""

    tokens: set[str] = field(default_factory=set)
    allows: list[str] = field(default_factory=list)
    disallows: list[str] = field(default_factory=list)
    crawl_delay: float | None = None
    closed: bool = False
    """Whether the next agent line begins another section."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    """All rules for one agent."""

    allows: Patterns
    disallows: Patterns
    crawl_delay: float | None

    def permits(self, target: RobotsTarget) -> bool:
        """Whether the target is allowed.

        The rule with the most octets wins, and Allow wins a tie (RFC 9309, section 2.2.2).
        """
        disallowed = self.disallows.longest_match(target.normal)
        return not disallowed or any(
            self.allows.longest_match(form) >= disallowed for form in target.written
        )


@dataclass(frozen=True, kw_only=True)
class Robots:
    """Parsed robots.txt of one origin."""

    sitemaps: tuple[str, ...]
    """Absolute http(s) URLs in order, each once."""
    _sections: Sequence[_Section] = field(repr=False)
    _groups: dict[str, _Group] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Groups of requested agents, cached because building one takes longer than using it."""

    def allows(self, url: str, product_token: str) -> bool:
        """Whether the agent may fetch the URL; a path alone is enough.

        The token is compared as a whole: cut it from a User-Agent with `product_token_of`.
        """
        target = target_of(url)
        return target.normal == _ROBOTS_PATH or self._group(product_token).permits(target)

    def crawl_delay(self, product_token: str) -> float | None:
        """Return the seconds between two requests (finite, 0 or more); the longest of several."""
        return self._group(product_token).crawl_delay

    def _group(self, product_token: str) -> _Group:
        """Return the rules that name the token, else the rules for any agent (section 2.2.1)."""
        token = product_token.lower()
        if token not in self._groups:
            named = [section for section in self._sections if token in section.tokens]
            anybody = [section for section in self._sections if _ANYBODY in section.tokens]
            self._groups[token] = _merged(named or anybody)
        return self._groups[token]


def parse(content: bytes | str) -> Robots:
    """Parse a robots.txt; never raises, since unknown lines are ignored."""
    reader = _Reader()
    for kind, value in read_lines(content):
        reader.read(kind, value)
    return Robots(sitemaps=tuple(reader.sitemaps), _sections=tuple(reader.sections))


def product_token_of(user_agent: str) -> str:
    """Return the product token of a User-Agent: `Spinneret` of `Spinneret/1.0 (+…)`."""
    return _BEHIND_TOKEN.sub("", user_agent, count=1)


class _Reader:
    """Sorts the lines into sections.

    An agent line after a rule begins a new group; no other line does (RFC 9309, section 2.2).
    Crawl-delay isn't part of the RFC, and may be the only line of an agent. So each group of agents
    is kept twice: for its rules, and for its delay, which an agent line after it ends too.
    """

    def __init__(self) -> None:
        self.sections: list[_Section] = []
        self.sitemaps: dict[str, None] = {}
        self._ruled = self._new_section()
        self._delayed = self._new_section()

    def read(self, kind: Field, value: bytes) -> None:
        """Process the next line."""
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
                if _is_sitemap(url) and len(self.sitemaps) < limits.ROBOTS_SITEMAPS:
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
    """Return the patterns of an Allow.

    Google: an allowed index page allows its folder's URL too.
    """
    folder, slash, page = pattern.rpartition("/")
    if slash and page.startswith("index.htm"):
        return [pattern, f"{folder}/$"]
    return [pattern]


def _in_ascii(value: bytes) -> str:
    """Escape every octet beyond ASCII, in any charset."""
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

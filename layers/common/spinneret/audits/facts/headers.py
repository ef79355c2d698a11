"""Headers that say something of the page: X-Robots-Tag, Link, Set-Cookie.

The fetcher joins repeated fields by a comma, so values are cut at those commas that part fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from spinneret.audits.facts.models import Alternate, Cookie, Robots
from spinneret.web.fetching.urls import Url, join_url

KEPT: Final = (
    *("cache-control", "content-encoding", "content-security-policy", "content-type", "etag"),
    *("expires", "last-modified", "strict-transport-security", "x-content-type-options"),
    *("x-frame-options",),
)
"""Headers that a check reads as they are."""
MAX_HEADER_CHARS: Final = 2000
MAX_COOKIES: Final = 50

_COOKIE: Final = re.compile(r",\s*(?=[!#$%&'*+.^_`|~0-9A-Za-z-]+=)")  # a token, as RFC 6265 has it
_LINK: Final = re.compile(r"<([^<>]*)>([^<]*)")
_PARAMETER: Final = re.compile(r""";\s*([a-z*]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""", re.IGNORECASE)
# Names of directives that have values; any other name before a colon is a crawler's.
_DATE: Final = re.compile(r"(unavailable_after)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUED: Final = ("max-snippet", "max-image-preview", "max-video-preview")
_AGENT: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9._-]*)\s*:(.*)", re.DOTALL)


def kept_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Those that checks read, bounded."""
    return tuple(
        (name, headers[name][:MAX_HEADER_CHARS]) for name in KEPT if headers.get(name) is not None
    )


def robots_tags(value: str) -> tuple[Robots, ...]:
    """X-Robots-Tag: `noindex, bingbot: nofollow, noarchive` says something to two agents."""
    found: dict[str, list[str]] = {}
    agent = "robots"
    for part in _robots_parts(value[:MAX_HEADER_CHARS]):
        named = _AGENT.match(part)
        if named and named[1].lower() not in (*_VALUED, "unavailable_after"):
            agent = named[1].lower()
            found.setdefault(agent, []).extend(robots_directives(named[2]))
        else:
            found.setdefault(agent, []).extend(robots_directives(part))
    return tuple(Robots("header", agent, tuple(each)) for agent, each in found.items() if each)


def robots_directives(content: str) -> tuple[str, ...]:
    """Directives in lower case, without blanks around their colons; dates as they are written."""
    directives = []
    for part in _robots_parts(content):
        date = _DATE.match(part.strip())
        if date:
            directives.append(f"unavailable_after:{date[2].strip()}")
        elif part.strip():
            directives.append("".join(part.lower().split()))
    return tuple(directives)


def _robots_parts(value: str) -> Iterator[str]:
    """Cut at commas, but not within a date (`Sat, 25 Jun 2033 …`)."""
    pending = ""
    for part in value.split(","):
        if pending:
            yield f"{pending},{part}"
            pending = ""
        elif re.fullmatch(r".*unavailable_after\s*:\s*[A-Za-z]{3,9}", part.strip(), re.IGNORECASE):
            pending = part
        else:
            yield part
    if pending:
        yield pending


def link_relations(value: str, base: Url) -> tuple[str | None, tuple[Alternate, ...]]:
    """The canonical URL and the pages in other languages that a Link header (RFC 8288) names."""
    canonical: str | None = None
    alternates = []
    for target, rest in _LINK.findall(value[:MAX_HEADER_CHARS]):
        parameters = {
            name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(rest)
        }
        relations = parameters.get("rel", "").lower().split()
        url = join_url(base, target)
        if "canonical" in relations and canonical is None and url is not None:
            canonical = url.text
        if "alternate" in relations and (language := parameters.get("hreflang")):
            alternates.append(Alternate(language, target, url.text if url else None))
    return canonical, tuple(alternates)


def cookies(value: str) -> tuple[Cookie, ...]:
    """Names and attributes; values stay out, since they may be secrets."""
    found = []
    for cookie in _COOKIE.split(value, maxsplit=MAX_COOKIES)[:MAX_COOKIES]:
        pair, *rest = cookie.split(";")
        attributes = {
            name.strip().lower(): text.strip().lower()
            for name, _, text in (attribute.partition("=") for attribute in rest)
        }
        name = pair.partition("=")[0].strip()
        if name:
            found.append(
                Cookie(
                    name=name[:100],
                    secure="secure" in attributes,
                    http_only="httponly" in attributes,
                    same_site=attributes.get("samesite", "")[:20],
                )
            )
    return tuple(found)

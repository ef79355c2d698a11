"""Headers with facts about the page: X-Robots-Tag, Link, Set-Cookie.

The fetcher joins repeated fields by a comma, so values are split at the commas between fields.
"""

import re
from collections.abc import Mapping
from typing import Final

from spinneret.audits.facts.models import Alternate, Cookie, RobotsDirectives
from spinneret.web.exploring.robots_tags import tags_of
from spinneret.web.fetching.urls import Url, join_url

KEPT: Final = (
    *("cache-control", "content-encoding", "content-security-policy", "content-type", "etag"),
    *("expires", "last-modified", "strict-transport-security", "x-content-type-options"),
    *("x-frame-options",),
)
"""Headers whose values checks read unchanged."""
MAX_HEADER_CHARS: Final = 2000
MAX_COOKIES: Final = 50

_COOKIE: Final = re.compile(r",\s*(?=[!#$%&'*+.^_`|~0-9A-Za-z-]+=)")  # a token as in RFC 6265
_LINK: Final = re.compile(r"<([^<>]*)>([^<]*)")
_PARAMETER: Final = re.compile(r""";\s*([a-z*]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""", re.IGNORECASE)


def kept_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the headers that checks read, truncated."""
    return tuple(
        (name, headers[name][:MAX_HEADER_CHARS]) for name in KEPT if headers.get(name) is not None
    )


def robots_tags(value: str) -> tuple[RobotsDirectives, ...]:
    """Parse X-Robots-Tag; return the directives of each agent."""
    return tuple(
        RobotsDirectives("header", agent, directives)
        for agent, directives in tags_of(value).items()
    )


def link_relations(value: str, base: Url) -> tuple[str | None, tuple[Alternate, ...]]:
    """Return the canonical URL and the pages in other languages of a Link header (RFC 8288)."""
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
    """Return names and attributes of cookies, without values, which may be secrets."""
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

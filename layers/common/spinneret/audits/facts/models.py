"""Facts of one page: what its answer and its markup say, without any judgement.

All text is bounded when it is read (`facts.html`), so that the facts of a page stay some tens of
kilobytes of JSON, whatever the page is like.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

MODIFIED: Final = "article:modified_time"  # ogp.me


class Kind(StrEnum):
    """What a URL turned out to be."""

    HTML = "html"
    REDIRECT = "redirect"
    OTHER = "other"
    """An answer that is no page: a PDF, an image, a feed."""
    FAILED = "failed"
    """No page could be read, though one was expected: no answer, an error, or not allowed."""


class Failure(StrEnum):
    """Why no page could be read where that isn't said by the status code."""

    TIMEOUT = "timeout"
    NETWORK = "network"
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "too_large"
    TOO_COMPLEX = "too_complex"
    EMPTY = "empty"
    ROBOTS = "robots"


class Link(NamedTuple):
    """An `a` or `area` element."""

    url: str | None
    """Absolute, without fragment; None where it isn't one of the web (`mailto:`, nothing, …)."""
    href: str | None
    """As written, only where `url` is None; None besides means that there is no href."""
    fragment: str = ""
    text: str = ""
    """What is read out: the text, or the alternative text of an image in it."""
    nofollow: bool = False
    unsafe_blank: bool = False
    """Opens a new window that may control this one: no noopener, no noreferrer."""


class Image(NamedTuple):
    """An `img` element."""

    url: str | None
    alt: str | None
    """None where the attribute is missing; empty marks a decoration."""
    sized: bool = True
    """It says its width and height."""
    loading: str = ""


class Heading(NamedTuple):
    """h1 to h6."""

    level: int
    text: str


class Alternate(NamedTuple):
    """A `link` to the page in another language."""

    language: str
    href: str
    url: str | None


class Canonical(NamedTuple):
    """A `link rel=canonical`."""

    href: str
    url: str | None


class Robots(NamedTuple):
    """What crawlers are asked: a `meta` element or a part of X-Robots-Tag."""

    source: str
    """`meta` or `header`."""
    agent: str
    """Lower case; `robots` is anybody."""
    directives: tuple[str, ...]
    """Lower case, but for dates."""


class Structured(NamedTuple):
    """One thing that structured data describe."""

    syntax: str
    """`json-ld` or `microdata`."""
    types: tuple[str, ...] = ()
    """Without the vocabulary's address."""
    properties: tuple[str, ...] = ()
    """Names of the properties that have a value."""
    error: str = ""
    """Why it can't be read; then nothing else is known."""
    modified: str = ""
    """Its `dateModified` as written; of JSON-LD only."""


class Form(NamedTuple):
    """A `form` element."""

    url: str | None
    method: str
    password: bool = False


class Cookie(NamedTuple):
    """A cookie that the answer sets; its value isn't kept."""

    name: str
    secure: bool
    http_only: bool
    same_site: str
    """Lower case, empty where it isn't said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """The text that a reader of the page sees."""

    words: int = 0
    """A Chinese or Japanese character counts as a word."""
    fingerprint: str = ""
    """Of the words in their order; empty where there are none."""
    prose_words: int = 0
    """Those outside links and code."""
    top_term: str = ""
    """Of them the most frequent one of four letters or more that isn't a stop word …"""
    top_count: int = 0
    """… and how often it stands there."""
    broken_characters: int = 0
    """Replacement characters, and letters that are UTF-8 read as Latin-1."""
    hidden: tuple[str, ...] = ()
    """Beginnings of texts that inline styles move out of sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlFacts:
    """What the markup of a page says; None and empty mean that it doesn't."""

    doctype: str | None = None
    """What follows the word, in lower case: `html` for HTML 5."""
    charset: str | None = None
    """Where it is declared: `header`, `bom` or `meta`; None is nowhere in the first 1024 bytes."""
    lang: str | None = None
    titles: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    viewport: str | None = None
    policy: str | None = None
    """Content-Security-Policy, as far as markup may give it."""
    robots: tuple[Robots, ...] = ()
    canonicals: tuple[Canonical, ...] = ()
    alternates: tuple[Alternate, ...] = ()
    pagination: tuple[str, ...] = ()
    """Targets of `link rel=next` and `rel=prev`."""
    body_metas: tuple[str, ...] = ()
    """What belongs into the head and stands in the body."""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    pictures_without_img: int = 0
    structured: tuple[Structured, ...] = ()
    social: tuple[tuple[str, str], ...] = ()
    """`og:` and `twitter:` properties and `article:modified_time`, the first of each name."""
    forms: tuple[Form, ...] = ()
    subresources: tuple[str, ...] = ()
    """Those loaded by http: scripts, styles, images, frames, media."""
    scripts: int = 0
    styles: int = 0
    anchors: tuple[str, ...] = ()
    """Every id, and the names of `a` elements: where fragments can lead."""
    duplicate_ids: tuple[str, ...] = ()
    elements: int = 0
    depth: int = 0
    """Levels of nesting; 32 stands for so many or fewer."""
    text: TextFacts = TextFacts()
    left_out: int = 0
    """Links, images and the like beyond their bounds."""

    @property
    def modified(self) -> str:
        """When the page says that it was last changed, as written; empty where it doesn't."""
        described = (each.modified for each in self.structured)
        return dict(self.social).get(MODIFIED) or next(filter(None, described), "")

    def robots_of(self, *agents: str) -> frozenset[str]:
        """The directives for any of the agents; `robots` is anybody."""
        return frozenset(
            directive
            for robots in self.robots
            if robots.agent in agents
            for directive in robots.directives
        )


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """One URL as it answered."""

    url: str
    """As it was asked for: absolute, without fragment."""
    kind: Kind
    fetched_at: str
    """ISO 8601, UTC."""
    final_url: str = ""
    """Where the redirects led; the URL itself without any."""
    redirects: tuple[str, ...] = ()
    """Every URL that was left by a redirect, the first one included."""
    status: int | None = None
    failure: Failure | None = None
    media_type: str = ""
    size: int = 0
    """Bytes of the decoded body."""
    first_byte_ms: int | None = None
    duration_ms: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Those that a check reads, names in lower case."""
    cookies: tuple[Cookie, ...] = ()
    header_canonical: str | None = None
    """The canonical URL that a Link header names."""
    html: HtmlFacts | None = None

    @cached_property
    def _headers(self) -> dict[str, str]:
        return dict(self.headers)

    def header(self, name: str) -> str | None:
        """The value of a header whose name is in lower case."""
        return self._headers.get(name)

    @property
    def is_https(self) -> bool:
        """The page came by https."""
        return self.final_url.startswith("https:")

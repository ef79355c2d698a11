"""Facts of one page from its response and markup, without any evaluation.

All text is bounded when it is read (`facts.html`), so that the facts of any page take at most some
tens of kilobytes of JSON.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

MODIFIED: Final = "article:modified_time"  # ogp.me
MAX_LINKS: Final = 3000  # of a page
MAX_ANCHORS: Final = 10_000
MAX_FEW: Final = 200  # each: headings, languages, forms, robots elements
INDEXERS: Final = ("robots", "googlebot", "bingbot", "duckduckbot")
"""All crawlers, and the search engines that Lighthouse 13.5 (is-crawlable) asks for."""
PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages."""


class PageKind(StrEnum):
    """Type of a URL's response."""

    HTML = "html"
    REDIRECT = "redirect"
    OTHER = "other"
    """A response that isn't a page: a PDF, an image, a feed."""
    FAILED = "failed"
    """A URL without a readable page: no response, an error, or not allowed."""


class ReadFailure(StrEnum):
    """Reason why no page could be read, unless the status code states it."""

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
    """Absolute URL without fragment; None unless it is a web URL (`mailto:`, empty, …)."""
    href: str | None
    """Value as written if `url` is None; None if there is no href, either."""
    fragment: str = ""
    """Fragment as written."""
    text: str = ""
    """Text for screen readers: the text, or the alternative text of an image in it."""
    nofollow: bool = False
    unsafe_blank: bool = False
    """Whether it opens a new window that may control this one: no noopener or noreferrer."""
    hidden: bool = False
    """Whether screen readers skip it (`aria-hidden`)."""


class HtmlImage(NamedTuple):
    """An `img` or `input type=image` element."""

    url: str | None
    alt: str | None
    """Alternative text; None if the attribute is missing, empty for a decoration."""
    sized: bool = True
    """Whether it declares width and height."""
    loading: str = ""


class ImageFile(NamedTuple):
    """An image that a page names elsewhere than in the `src` of an `img`."""

    where: str
    """`img[srcset]` or `meta[property='og:image']`."""
    url: str


class Heading(NamedTuple):
    """A heading, h1 to h6."""

    level: int
    text: str


class Alternate(NamedTuple):
    """A `link` to the page in another language."""

    language: str
    href: str
    url: str | None


class Canonical(NamedTuple):
    """A `link rel=canonical` outside the body, where search engines ignore it."""

    href: str
    url: str | None


class RobotsDirectives(NamedTuple):
    """Directives for crawlers: a `meta` element or a part of X-Robots-Tag."""

    source: str
    """`meta` or `header`."""
    agent: str
    """Crawler in lower case; `robots` means all crawlers."""
    directives: tuple[str, ...]
    """Directives in lower case, except for dates."""


class Structured(NamedTuple):
    """One item of structured data."""

    syntax: str
    """`json-ld` or `microdata`."""
    types: tuple[str, ...] = ()
    """Types without the vocabulary's URL."""
    properties: tuple[str, ...] = ()
    """Names of properties that have a value."""
    error: str = ""
    """Parse error; if set, all other fields are empty."""
    modified: str = ""
    """Its `dateModified` as written; JSON-LD only."""


class HtmlForm(NamedTuple):
    """A `form` element."""

    url: str | None
    method: str
    password: bool = False


class Cookie(NamedTuple):
    """A cookie that the response sets, without its value."""

    name: str
    secure: bool
    http_only: bool
    same_site: str
    """Value in lower case; empty if missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """Figures about the visible text of a page."""

    words: int = 0
    """Number of words; a Chinese or Japanese character counts as a word."""
    fingerprint: str = ""
    """Hash of the words in order; empty without words."""
    prose_words: int = 0
    """Number of words outside links and code."""
    top_term: str = ""
    """The most frequent of them with four letters or more, without stop words …"""
    top_count: int = 0
    """… and its number of occurrences."""
    broken_characters: int = 0
    """Number of replacement characters, and of UTF-8 sequences read as Latin-1."""
    hidden: tuple[str, ...] = ()
    """Beginnings of texts that inline styles hide."""
    signature: str = ""
    """Simhash of the words outside links and code; empty for fewer than 100."""
    placeholder: str = ""
    """Beginning of a filler text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlFacts:
    """Facts from a page's markup; None and empty mean that it states nothing."""

    doctype: str | None = None
    """Text after the keyword, in lower case: `html` for HTML 5."""
    charset: str | None = None
    """Place of declaration: `header`, `bom` or `meta`; None if not in the first 1024 bytes."""
    lang: str | None = None
    titles: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    viewport: str | None = None
    policy: str | None = None
    """Content-Security-Policy of the markup."""
    robots: tuple[RobotsDirectives, ...] = ()
    canonicals: tuple[Canonical, ...] = ()
    alternates: tuple[Alternate, ...] = ()
    pagination: tuple[str, ...] = ()
    """Targets of `link rel=next` and `rel=prev`."""
    body_metas: tuple[str, ...] = ()
    """Head-only elements in the body."""
    refresh: str = ""
    """Target of a `meta` element that leads to another page."""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[HtmlImage, ...] = ()
    image_files: tuple[ImageFile, ...] = ()
    pictures_without_img: int = 0
    structured: tuple[Structured, ...] = ()
    social: tuple[tuple[str, str], ...] = ()
    """`og:` and `twitter:` properties and `article:modified_time`, the first of each name."""
    forms: tuple[HtmlForm, ...] = ()
    subresources: tuple[str, ...] = ()
    """URLs of resources loaded by http: scripts, styles, images, frames, media, backgrounds."""
    anchors: tuple[str, ...] = ()
    """All ids, and the names of `a` elements: possible targets of fragments."""
    duplicate_ids: tuple[str, ...] = ()
    elements: int = 0
    depth: int = 0
    """Levels of nesting; 32 means 32 or fewer."""
    text: TextFacts = TextFacts()
    left_out: int = 0
    """Number of links, images and other items beyond their bounds."""

    @property
    def has_all_links(self) -> bool:
        """Whether no link is beyond the bound."""
        return len(self.links) < MAX_LINKS

    @property
    def has_all_alternates(self) -> bool:
        """Whether no language is beyond the bound."""
        return len(self.alternates) < MAX_FEW

    @property
    def modified(self) -> str:
        """The page's own date of its last change, as written; empty if missing."""
        described = (each.modified for each in self.structured)
        return dict(self.social).get(MODIFIED) or next(filter(None, described), "")


class Lab(NamedTuple):
    """Figures of one visit in a browser of a data centre, of no visitor's; None if it gave none."""

    first_contentful_paint_ms: int | None = None
    largest_contentful_paint_ms: int | None = None
    layout_shift: float | None = None
    """Cumulative layout shift."""
    transferred_bytes: int = 0
    """Bytes received and sent for the page and all that it loads, as encoded."""


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """Facts of one URL's response."""

    url: str
    """Requested URL: absolute, without fragment."""
    kind: PageKind
    fetched_at: str
    """Time of the request in ISO 8601, UTC."""
    final_url: str = ""
    """URL after the redirects; the URL itself without any."""
    redirects: tuple[str, ...] = ()
    """All URLs that redirected, including the first."""
    status: int | None = None
    failure: ReadFailure | None = None
    media_type: str = ""
    size: int = 0
    """Size of the decoded body in bytes."""
    first_byte_ms: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Headers that checks read, with names in lower case."""
    cookies: tuple[Cookie, ...] = ()
    header_canonical: str | None = None
    """Canonical URL of a Link header."""
    html: HtmlFacts | None = None
    lab: Lab | None = None
    """Lab figures, if the page was opened in a browser."""

    @cached_property
    def _headers(self) -> dict[str, str]:
        return dict(self.headers)

    def header(self, name: str) -> str | None:
        """Return the value of a header, given its name in lower case; None if missing."""
        return self._headers.get(name)

    @property
    def is_https(self) -> bool:
        """Whether the page was fetched by https."""
        return self.final_url.startswith("https:")

"""What is read from a page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spinneret.content.extraction.targets import without_targets

UNKNOWN: Final = "und"
"""The language of a text of which none is known (ISO 639-2)."""


class PageType(StrEnum):
    """What kind of page it is, in the seven types of the Web Content Extraction Benchmark."""

    ARTICLE = "article"
    COLLECTION = "collection"
    DOCUMENTATION = "documentation"
    FORUM = "forum"
    LISTING = "listing"
    PRODUCT = "product"
    SERVICE = "service"


class ExtractionStrategy(StrEnum):
    """What of a page is its content."""

    MARKDOWN = "markdown"
    """The main content."""
    STRUCTURED = "structured"
    """The main content, and besides as a list of typed blocks."""
    RAW = "raw"
    """The whole body, menus and footers included."""


@dataclass(frozen=True, kw_only=True)
class Hyperlink:
    """A link of a page, as its first occurrence has it."""

    url: str
    """Absolute, http or https, without a fragment."""
    text: str = ""
    """What the reader sees, on one line, shortened; of the first occurrence that shows any words:
    pictures without a description don't."""
    rel: tuple[str, ...] = ()
    """In lower case."""
    may_follow: bool = True
    """An occurrence of it isn't `nofollow`, whichever that is."""

    @property
    def nofollow(self) -> bool:
        """Whether the page doesn't vouch for its target."""
        return "nofollow" in self.rel


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What a page says of itself; None and empty mean that it doesn't say."""

    author: str | None = None
    publish_date: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    og_image: str | None = None
    canonical_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """How sure the main content is: pages with a low agreement are worth a look."""

    engine: str
    """The engine whose own choice is nearest to the content."""
    agreement: float
    """How much the engines that were asked agree, from 0 to 1: the mean F1 of their words over
    all pairs; 0 where one engine alone has answered."""
    page_type: PageType | None
    """None where nothing says it."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """The main content of a page, ready to be stored and chunked."""

    title: str | None
    markdown: str
    language: str
    """The declared one (BCP 47, primary subtag) unless the text shows another one; `und` where
    neither says it."""
    metadata: Metadata = Metadata()
    hyperlinks: tuple[Hyperlink, ...] = ()
    """Of the whole page, in order, each URL once."""
    nofollow_agents: tuple[str, ...] = ()
    """Crawlers that its `meta` elements ask to follow none of its links, in lower case; `robots` is
    all of them."""
    extraction: Extraction | None = None
    """None where nothing had to be chosen: plain text and XML."""

    @property
    def links(self) -> tuple[str, ...]:
        """The URLs of all links, in order."""
        return tuple(each.url for each in self.hyperlinks)

    @property
    def text(self) -> str:
        """The markdown without the targets of links and images: what is embedded."""
        return without_targets(self.markdown)

"""Data classes of page content."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spinneret.content.extraction.targets import without_targets

UNKNOWN: Final = "und"
"""Language code of a text in an unknown language (ISO 639-2)."""


class PageType(StrEnum):
    """Type of a page, one of seven types of the Web Content Extraction Benchmark."""

    ARTICLE = "article"
    COLLECTION = "collection"
    DOCUMENTATION = "documentation"
    FORUM = "forum"
    LISTING = "listing"
    PRODUCT = "product"
    SERVICE = "service"


class ExtractionStrategy(StrEnum):
    """Selection of a page's content."""

    MARKDOWN = "markdown"
    """Main content."""
    STRUCTURED = "structured"
    """Main content, additionally as a list of typed blocks."""
    RAW = "raw"
    """Complete body, including menus and footers."""


@dataclass(frozen=True, kw_only=True)
class Hyperlink:
    """A link of a page, merged from all occurrences of its URL."""

    url: str
    """Absolute, http or https, without a fragment."""
    text: str = ""
    """Visible text on one line, shortened, from the first occurrence with words. Pictures without a
    description have none."""
    rel: tuple[str, ...] = ()
    """Values of the first occurrence, in lower case."""
    may_follow: bool = True
    """Whether at least one occurrence isn't `nofollow`."""

    @property
    def nofollow(self) -> bool:
        """Whether the page doesn't vouch for its target."""
        return "nofollow" in self.rel


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Metadata declared by a page; None or empty if undeclared."""

    author: str | None = None
    publish_date: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    og_image: str | None = None
    canonical_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """Confidence in the main content: pages with low agreement deserve a check."""

    engine: str
    """Engine whose own choice is closest to the content."""
    agreement: float
    """Agreement of the engines that ran, from 0 to 1: the mean F1 of their words over all pairs; 0
    if only one engine returned a choice."""
    page_type: PageType | None
    """None if unknown."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """Main content of a page, ready to be stored and chunked."""

    title: str | None
    markdown: str
    language: str
    """Declared language (BCP 47, primary subtag) unless the text is clearly in another one; `und`
    if unknown."""
    metadata: Metadata = Metadata()
    hyperlinks: tuple[Hyperlink, ...] = ()
    """Links of the whole page, in order, each URL once."""
    nofollow_agents: tuple[str, ...] = ()
    """Crawlers whose `meta` elements forbid following links, in lower case; `robots` means all."""
    extraction: Extraction | None = None
    """None if nothing had to be chosen: plain text and XML."""

    @property
    def links(self) -> tuple[str, ...]:
        """URLs of all links, in order."""
        return tuple(each.url for each in self.hyperlinks)

    @property
    def text(self) -> str:
        """The Markdown without targets of links and images, as used for embedding."""
        return without_targets(self.markdown)

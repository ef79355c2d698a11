"""What is read from a page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spinneret.content.extraction.targets import without_targets


class PageType(StrEnum):
    """What kind of page it is, in the seven types of the Web Content Extraction Benchmark."""

    ARTICLE = "article"
    COLLECTION = "collection"
    DOCUMENTATION = "documentation"
    FORUM = "forum"
    LISTING = "listing"
    PRODUCT = "product"
    SERVICE = "service"


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What a page says of itself; None and empty mean that it doesn't say."""

    author: str | None = None
    published_at: str | None = None
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
    """The page's declared language (BCP 47, primary subtag), `und` when it declares none."""
    metadata: Metadata = Metadata()
    links: tuple[str, ...] = ()
    """Absolute http(s) URLs of the whole page, in order, without duplicates or fragments."""
    extraction: Extraction | None = None
    """None where nothing had to be chosen: plain text and XML."""

    @property
    def text(self) -> str:
        """The markdown without the targets of links and images: what is embedded."""
        return without_targets(self.markdown)

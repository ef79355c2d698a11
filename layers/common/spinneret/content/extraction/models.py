"""What is read from a page."""

from __future__ import annotations

from dataclasses import dataclass


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
class Content:
    """The main content of a page, ready to be stored and chunked."""

    title: str | None
    markdown: str
    language: str
    """The page's declared language (BCP 47, primary subtag), `und` when it declares none."""
    metadata: Metadata = Metadata()
    links: tuple[str, ...] = ()
    """Absolute http(s) URLs of the whole page, in order, without duplicates or fragments."""

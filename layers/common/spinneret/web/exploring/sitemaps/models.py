"""Values of sitemaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SitemapKind(StrEnum):
    """What a file turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    RSS = "rss"
    """RSS 0.9 to 2.0."""
    ATOM = "atom"
    TEXT = "text"
    """One URL on each line."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class SitemapEntry:
    """A URL that a file lists: a page, or with an index another file."""

    url: str
    """Absolute, without a fragment."""
    last_modified: datetime | None = None
    priority: float | None = None
    """0 … 1, compared with other pages of the site."""
    is_sitemap: bool = False


class Ending(StrEnum):
    """How the reading of a file ended; whatever it is, the entries before it are good."""

    COMPLETE = "complete"
    TOO_MANY_BYTES = "too_many_bytes"
    TOO_MANY_URLS = "too_many_urls"
    OUT_OF_TIME = "out_of_time"
    MALFORMED = "malformed"
    """No XML, broken compression, nested too deep, or a token without end."""
    ENTITIES = "entities"
    """It declares entities, which no sitemap needs and by which a small one fills a memory."""
    NOT_A_SITEMAP = "not_a_sitemap"
    """Another kind of document."""

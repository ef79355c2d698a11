"""Values of sitemaps."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SitemapKind(StrEnum):
    """Type of a file, detected from its content."""

    URLSET = "urlset"
    INDEX = "index"
    RSS = "rss"
    """RSS 0.9 to 2.0."""
    ATOM = "atom"
    TEXT = "text"
    """One URL per line."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class SitemapEntry:
    """A URL that a file lists: a page or, in an index, another file."""

    url: str
    """Absolute, without a fragment."""
    last_modified: datetime | None = None
    is_sitemap: bool = False


class Ending(StrEnum):
    """Result of reading a file; the entries before the end are always valid."""

    COMPLETE = "complete"
    TOO_MANY_BYTES = "too_many_bytes"
    TOO_MANY_URLS = "too_many_urls"
    OUT_OF_TIME = "out_of_time"
    MALFORMED = "malformed"
    """No XML, broken compression, nested too deep, or an endless token."""
    ENTITIES = "entities"
    """The file declares entities, which no sitemap needs and which could exhaust the memory."""
    NOT_A_SITEMAP = "not_a_sitemap"
    """Another type of document."""

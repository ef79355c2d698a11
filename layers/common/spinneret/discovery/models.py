"""Values of discoveries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from spinneret.kernel.clock import optional_stamp, parse_optional_stamp


class DiscoverySource(StrEnum):
    """Source of discovered URLs."""

    SITEMAP = "sitemap"
    COMMON_CRAWL = "common_crawl"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Search terms of a discovery: the payload of its job."""

    domain: str
    """Domain as requested."""
    roots: tuple[str, ...]
    """URLs of the site's root; a later one is tried if the earlier ones don't answer."""
    sources: tuple[DiscoverySource, ...]
    pattern: str | None
    max_urls: int
    score_query: str | None
    score_threshold: float

    def payload(self) -> dict[str, Any]:
        """Return the terms as JSON."""
        return asdict(self)


def read_terms(payload: Mapping[str, Any]) -> Terms:
    """Convert `Terms.payload` back to terms."""
    sources = tuple(map(DiscoverySource, payload["sources"]))
    return Terms(**{**payload, "roots": tuple(payload["roots"]), "sources": sources})


@dataclass(frozen=True, kw_only=True)
class FoundUrl:
    """A discovered page."""

    url: str
    score: float | None
    """Score by the query, 0 … 1; None without a query."""
    last_modified: datetime | None
    """Date in its sitemap, or of Common Crawl's last fetch."""
    sources: tuple[DiscoverySource, ...]


def found_item(found: FoundUrl) -> dict[str, Any]:
    """Return the URL as JSON."""
    return {**asdict(found), "last_modified": optional_stamp(found.last_modified)}


def read_found(stored: Mapping[str, Any]) -> FoundUrl:
    """Convert a `found_item` back to a URL."""
    return FoundUrl(
        url=stored["url"],
        score=stored["score"],
        last_modified=parse_optional_stamp(stored["last_modified"]),
        sources=tuple(map(DiscoverySource, stored["sources"])),
    )


@dataclass(frozen=True, kw_only=True)
class FoundPage:
    """Part of a result, best first; `after` is the number to continue after, None at the end."""

    urls: tuple[FoundUrl, ...]
    after: int | None

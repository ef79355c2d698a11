"""Values of discoveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from spinneret.kernel.clock import optional_stamp, parse_optional_stamp


class DiscoverySource(StrEnum):
    """Where pages are looked for."""

    SITEMAP = "sitemap"
    COMMON_CRAWL = "common_crawl"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is looked for: the payload of a job."""

    domain: str
    """As it was asked for."""
    roots: tuple[str, ...]
    """URLs of the site's root; a later one is tried where nothing answers at those before it."""
    sources: tuple[DiscoverySource, ...]
    pattern: str | None
    max_urls: int
    score_query: str | None
    score_threshold: float

    def payload(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def read_terms(payload: Mapping[str, Any]) -> Terms:
    """The inverse of `Terms.payload`."""
    sources = tuple(map(DiscoverySource, payload["sources"]))
    return Terms(**{**payload, "roots": tuple(payload["roots"]), "sources": sources})


@dataclass(frozen=True, kw_only=True)
class FoundUrl:
    """A page that was found."""

    url: str
    score: float | None
    """0 … 1 by the query; None without one."""
    last_modified: datetime | None
    """As its sitemap has it, or when Common Crawl fetched it last."""
    sources: tuple[DiscoverySource, ...]


def found_item(found: FoundUrl) -> dict[str, Any]:
    """As JSON."""
    return {**asdict(found), "last_modified": optional_stamp(found.last_modified)}


def read_found(stored: Mapping[str, Any]) -> FoundUrl:
    """The inverse of `found_item`."""
    return FoundUrl(
        url=stored["url"],
        score=stored["score"],
        last_modified=parse_optional_stamp(stored["last_modified"]),
        sources=tuple(map(DiscoverySource, stored["sources"])),
    )


@dataclass(frozen=True, kw_only=True)
class FoundPage:
    """Some of what was found, the best first, and the number to go on after; None at the end."""

    urls: tuple[FoundUrl, ...]
    after: int | None

"""What a fetch needs to know of its caller, and what may come of it besides a page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.web.fetching.urls import Url


class Purpose(StrEnum):
    """Why a page is fetched: it decides which rules of the host hold."""

    CRAWL = "crawl"
    """robots.txt, circuit breaker, pace and the tenant's blocks."""
    CHECK = "check"
    """An owner's check of one target: pace, a minute of Retry-After and the tenant's blocks.

    It neither obeys nor changes the breaker that crawlers share, and reads no robots.txt.
    """


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller of a fetch, and its tenant."""

    tenant: str
    id: str
    """The same for every try of one fetch, as a job's id and run; unique within the tenant."""
    purpose: Purpose = Purpose.CRAWL
    reservation: str | None = None
    """`WaitUntil.waiting_for` of the try before, if that one had to wait."""


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """What a caller's configuration chooses. Raises ValueError."""

    proxy_config_id: str | None = None
    """Fetch through these proxies; directly while the config is inactive or empty. robots.txt is
    always fetched directly: it holds for all tenants."""
    obey_robots: bool = True
    requests_per_second: float | None = None
    """Slows the requests down; a rate above the host's own has no effect."""

    def __post_init__(self) -> None:
        rate = self.requests_per_second
        if rate is not None and not 0 < rate < float("inf"):
            raise ValueError(f"impossible rate: {rate}")


@dataclass(frozen=True, kw_only=True)
class WaitUntil:
    """The fetch has to wait for a host: call again at `until`."""

    until: datetime
    waiting_for: str
    """The host alone if a request is reserved there for `until`; else the host and the reason.
    The next try passes it as `Caller.reservation`."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a fetch that has to wait followed its redirects."""

    left: tuple[Url, ...]
    """The URLs that were left, the requested one first."""
    url: Url
    """Where the next try begins."""

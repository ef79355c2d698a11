"""Values of polite fetching: the caller, its options, and a result other than a page."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.web.fetching.urls import Url


class Purpose(StrEnum):
    """Why a page is fetched; the purpose selects the host's rules that apply."""

    CRAWL = "crawl"
    """robots.txt, circuit breaker, pace and the tenant's blocks."""
    CHECK = "check"
    """An owner's check of one target: pace, a minute of Retry-After and the tenant's blocks.

    It neither obeys nor changes the breaker that crawlers share, and reads no robots.txt.
    """
    LINK = "link"
    """A look at a link's target: like a check, but it obeys robots.txt.

    If the robots.txt of a host shows that the host's name or TLS fails, the fetch fails at once.
    """

    @property
    def is_crawl(self) -> bool:
        """Whether it obeys and changes the breaker."""
        return self is Purpose.CRAWL


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The caller of a fetch, and its tenant."""

    tenant: str
    id: str
    """Same for every attempt of one fetch, such as a job's id and run; unique within the tenant."""
    purpose: Purpose = Purpose.CRAWL
    reservation: str | None = None
    """`WaitUntil.waiting_for` of the previous attempt, if it had to wait."""


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """Options from a caller's configuration. Raises ValueError."""

    proxy_config_id: str | None = None
    """Fetch through these proxies, or directly while the config is inactive or empty. robots.txt is
    always fetched directly, because all tenants share it."""
    obey_robots: bool = True
    requests_per_second: float | None = None
    """Slows the requests down; a rate above the host's own has no effect."""

    def __post_init__(self) -> None:
        rate = self.requests_per_second
        if rate is not None and not 0 < rate < float("inf"):
            raise ValueError(f"impossible rate: {rate}")


@dataclass(frozen=True, kw_only=True)
class WaitUntil:
    """The fetch must wait for a host: call again at `until`."""

    until: datetime
    waiting_for: str
    """The host alone if a request is reserved there for `until`; else the host and the reason. The
    next attempt passes it as `Caller.reservation`."""
    refusal: str = ""
    """Behaviour of the host that causes the wait, in words; empty if only its pace does."""


@dataclass(frozen=True, kw_only=True)
class RedirectProgress:
    """Redirects followed so far by a fetch that must wait."""

    left: tuple[Url, ...]
    """URLs that redirected, the requested one first."""
    url: Url
    """URL at which the next attempt starts."""

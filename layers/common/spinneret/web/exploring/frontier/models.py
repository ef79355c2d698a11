"""Values of the frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.kernel import bounds
from spinneret.web.exploring.scope import ScopeKind


class Strategy(StrEnum):
    """Which of the known pages are next."""

    BFS = "bfs"
    """Those nearest to the start, in the order in which they were found."""
    DFS = "dfs"
    """Those of the newest batch: the links of its first page, then of its second …"""
    BEST_FIRST = "best_first"
    """Those whose links score highest; the first found among equals."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a crawl is asked to do; checked by `rules.check_plan`."""

    strategy: Strategy = Strategy.BFS
    max_depth: int = 2
    """Links between the start and a page."""
    max_pages: int = 100
    """Pages fetched with success."""
    keywords: tuple[str, ...] = ()
    """Links get a score if there are any."""
    score_threshold: float = 0.4
    """Links below it aren't followed, by best-first alone."""
    scope: ScopeKind = ScopeKind.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    urls_per_host: int | None = None
    """As many URLs of one host become known; None is no bound but the crawl's own."""
    batch_pages: int = bounds.CRAWL_BATCH_PAGES


@dataclass(frozen=True)
class CrawlRef:
    """One crawl of one tenant."""

    tenant: str
    crawl_id: str


class EndReason(StrEnum):
    """Why a crawl has no next batch."""

    EXHAUSTED = "exhausted"
    """No known page is left."""
    BUDGET = "budget"
    """`max_pages` were fetched."""
    EXPIRED = "expired"
    """It took longer than FRONTIER_SECONDS."""


@dataclass(frozen=True, kw_only=True)
class Crawl:
    """The state of a crawl as a whole."""

    ref: CrawlRef
    plan: Plan
    roots: tuple[str, ...]
    """The URLs that it begins with, as they were given."""
    begun_at: datetime
    fence: int = 0
    """Of the latest driver; one with a smaller fence is refused."""
    batch: int = 0
    """Number of the latest batch; the first one is 1."""
    current_depth: int = 0
    """The greatest depth that a batch has reached."""
    discovered: int = 0
    """Known URLs: the rows of the frontier."""
    crawled: int = 0
    """Pages fetched with success."""
    failed: int = 0
    ended_at: datetime | None = None
    end_reason: EndReason | None = None


class PageState(StrEnum):
    """Where a page is on its way."""

    WAITING = "waiting"
    OPEN = "open"
    """In the batch under way."""
    FETCHED = "fetched"
    """Its outcome is known, its links aren't merged."""
    CRAWLED = "crawled"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    """Another name of `same_as`: never asked for, or left by a redirect."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """One URL of a crawl."""

    key: str
    """Hash of the page's identity."""
    url: str
    """As it was first found: what is fetched."""
    host: str
    depth: int
    state: PageState
    rank: str
    """Its place among those that wait: the smallest is next."""
    discovered_at: datetime
    score: float | None = None
    parent: str | None = None
    """The URL of the page that gave it this depth; None for a start."""
    batch: int = 0
    position: int = 0
    """In its batch, from 0."""
    fence: int = 0
    """One more with every claim."""
    attempts: int = 0
    """Failures and lost workers so far."""
    due_at: datetime | None = None
    """Not to be claimed before."""
    owner: str | None = None
    leased_until: datetime | None = None
    same_as: str | None = None
    """Key of the page that has the content."""
    link_chunks: int = 0
    links_fence: int = 0
    """Under which claim the links were written."""
    content_hash: str | None = None
    final_url: str | None = None
    """Behind redirects."""
    status_code: int | None = None
    document_id: str | None = None
    parts_key: str | None = None
    """Of what is kept of it beside its document."""
    error_code: str | None = None
    error_message: str | None = None
    finished_at: datetime | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Links of the page that weren't followed, by reason."""


@dataclass(frozen=True, kw_only=True)
class FoundLink:
    """A link as the extractor reads it."""

    url: str
    text: str = ""
    """What its reader sees: it is scored by it, beside its URL."""
    nofollow: bool = False
    """The page asks that it not be followed."""


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A link that belongs to the crawl, ready to be merged."""

    key: str
    url: str
    host: str
    score: float | None = None
    calendar: str | None = None
    """Key of the calendar that it is a page of."""


# ---------------------------------------------------------------- Outcomes


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """The page was fetched and processed: it counts."""

    links: tuple[FoundLink, ...] = ()
    content_hash: str | None = None
    """Pages with equal hashes are one page; None compares with nothing."""
    final_url: str | None = None
    status_code: int | None = None
    document_id: str | None = None
    parts_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Deferred:
    """The page is to be tried again; `is_charged` if it was the site's failure."""

    until: datetime
    error_code: str
    error_message: str = ""
    status_code: int | None = None
    is_charged: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The page can't be had: forbidden by robots.txt, not found, refused."""

    error_code: str
    error_message: str = ""
    status_code: int | None = None
    final_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Redirected:
    """The page is another name of a known one, which wasn't asked for on this visit."""

    to: str
    """Its key."""
    final_url: str


Outcome = Fetched | Deferred | Failed | Redirected


class RedirectRefused(Exception):
    """A redirect isn't to be followed; `outcome` is what becomes of the page."""

    def __init__(self, outcome: Redirected | Failed) -> None:
        super().__init__(f"the redirect isn't followed: {type(outcome).__name__}")
        self.outcome = outcome


# ---------------------------------------------------------------- Answers


@dataclass(frozen=True, kw_only=True)
class PageLease:
    """A worker's claim of a page."""

    crawl: Crawl
    page: Page


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Pages to be claimed now, in the order of the batch; all of them, or those still open."""

    number: int
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Wait:
    """Nothing is to be done before."""

    until: datetime


@dataclass(frozen=True)
class Ended:
    """There is no next batch."""

    reason: EndReason


Next = Batch | Wait | Ended


@dataclass(frozen=True, kw_only=True)
class PagePage:
    """A part of the list of pages; `after` is where to go on, None at the end."""

    pages: tuple[Page, ...]
    after: str | None

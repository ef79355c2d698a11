"""Values of the frontier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.web.exploring import limits
from spinneret.web.exploring.scope import ScopeKind


class Strategy(StrEnum):
    """Order in which known pages are visited."""

    BFS = "bfs"
    """Pages nearest to the start, in the order in which they were found."""
    DFS = "dfs"
    """Pages found in the newest batch: the links of its first page, then of its second …"""
    BEST_FIRST = "best_first"
    """Pages whose links score highest; among equals, the first found."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Parameters of a crawl; checked by `guide.check_plan`."""

    strategy: Strategy = Strategy.BFS
    max_depth: int = 2
    """Links between the start and a page."""
    max_pages: int = 100
    """Successfully fetched pages."""
    keywords: tuple[str, ...] = ()
    """Links get a score if there are any keywords."""
    score_threshold: float = 0.4
    """Best-first doesn't follow links below this score; other strategies ignore it."""
    scope: ScopeKind = ScopeKind.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    urls_per_host: int | None = None
    """Maximum known URLs of one host; None leaves only the crawl's own bound."""
    batch_pages: int = limits.CRAWL_BATCH_PAGES


@dataclass(frozen=True)
class CrawlRef:
    """One crawl of one tenant."""

    tenant: str
    crawl_id: str


class EndReason(StrEnum):
    """Why a crawl has no next batch."""

    EXHAUSTED = "exhausted"
    """No known page is waiting."""
    BUDGET = "budget"
    """`max_pages` were fetched."""
    EXPIRED = "expired"
    """The crawl took longer than FRONTIER_SECONDS."""


@dataclass(frozen=True, kw_only=True)
class Crawl:
    """State of a crawl as a whole."""

    ref: CrawlRef
    plan: Plan
    roots: tuple[str, ...]
    """Start URLs as submitted, in normal form."""
    begun_at: datetime
    fence: int = 0
    """Fence of the latest driver; smaller fences are rejected."""
    batch: int = 0
    """Number of the latest batch; the first one is 1."""
    current_depth: int = 0
    """Greatest depth that a batch has reached."""
    discovered: int = 0
    """Number of known URLs."""
    crawled: int = 0
    """Successfully fetched pages."""
    failed: int = 0
    ended_at: datetime | None = None
    end_reason: EndReason | None = None


class PageChange(StrEnum):
    """Effect of a visit on the page's document."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class PageState(StrEnum):
    """State of a page within its crawl."""

    WAITING = "waiting"
    OPEN = "open"
    """Part of the current batch."""
    FETCHED = "fetched"
    """Outcome recorded, links not merged yet."""
    CRAWLED = "crawled"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    """Another name of `same_as`: never requested, or redirected to that page."""


@dataclass(frozen=True, kw_only=True)
class FrontierPage:
    """One URL of a crawl."""

    key: str
    """Hash of the page's identity."""
    url: str
    """URL as first found; this one is fetched."""
    host: str
    depth: int
    state: PageState
    rank: str
    """Sort key among waiting pages; the smallest is next."""
    discovered_at: datetime
    score: float | None = None
    parent: str | None = None
    """URL of the page that gave it this depth; None for a start URL."""
    batch: int = 0
    position: int = 0
    """Index in its batch, from 0."""
    fence: int = 0
    """Increases by one with every claim."""
    attempts: int = 0
    """Failures and lost workers so far."""
    due_at: datetime | None = None
    """Earliest moment of the next claim."""
    owner: str | None = None
    leased_until: datetime | None = None
    same_as: str | None = None
    """Key of the page that has the content."""
    link_chunks: int = 0
    links_fence: int = 0
    """Fence of the claim that wrote the links."""
    content_hash: str | None = None
    final_url: str | None = None
    """URL after redirects."""
    status_code: int | None = None
    fetch_ms: int | None = None
    """Duration of the request with its redirects."""
    document_id: str | None = None
    change: PageChange | None = None
    parts_key: str | None = None
    """Object key of the parts kept in addition to its document."""
    error_code: str | None = None
    error_message: str | None = None
    finished_at: datetime | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of links that weren't followed, by reason."""


@dataclass(frozen=True, kw_only=True)
class FoundLink:
    """A link as the extractor reads it."""

    url: str
    text: str = ""
    """Visible text of the link; together with the URL it determines the score."""
    nofollow: bool = False
    """The page asks crawlers not to follow the link."""


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A link that belongs to the crawl, ready for merging."""

    key: str
    url: str
    host: str
    score: float | None = None
    calendar: str | None = None
    """Key of the calendar that the URL is a page of."""


# ---------------------------------------------------------------- Outcomes


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """The page was fetched and processed; it counts."""

    links: tuple[FoundLink, ...] = ()
    content_hash: str | None = None
    """Pages with equal hashes are duplicates; None equals nothing."""
    final_url: str | None = None
    status_code: int | None = None
    fetch_ms: int | None = None
    document_id: str | None = None
    change: PageChange | None = None
    parts_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Deferred:
    """The page must be retried later; `is_charged` counts it as a failed attempt of the site."""

    until: datetime
    error_code: str
    error_message: str = ""
    status_code: int | None = None
    is_charged: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The page is unavailable: forbidden by robots.txt, not found, refused."""

    error_code: str
    error_message: str = ""
    status_code: int | None = None
    final_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Redirected:
    """The page is another name of a known page, which this visit didn't request."""

    to: str
    """Key of the known page."""
    final_url: str


FetchOutcome = Fetched | Deferred | Failed | Redirected


class RedirectRefused(Exception):
    """Raised for a redirect that must not be followed; `outcome` is the page's outcome."""

    def __init__(self, outcome: Redirected | Failed) -> None:
        super().__init__(f"the redirect isn't followed: {type(outcome).__name__}")
        self.outcome = outcome


# ---------------------------------------------------------------- Answers


@dataclass(frozen=True, kw_only=True)
class PageLease:
    """A worker's claim of a page."""

    crawl: Crawl
    page: FrontierPage


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Pages to claim now, in the order of the batch: all of them, or those still open."""

    number: int
    pages: tuple[FrontierPage, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the pages."""
        return tuple(page.key for page in self.pages)


@dataclass(frozen=True)
class FrontierWait:
    """No work before `until`."""

    until: datetime


@dataclass(frozen=True)
class Ended:
    """The crawl has no next batch."""

    reason: EndReason


Next = Batch | FrontierWait | Ended


@dataclass(frozen=True, kw_only=True)
class PagePage:
    """One page of the list of pages; `after` is the next position, None at the end."""

    pages: tuple[FrontierPage, ...]
    after: str | None


@dataclass(frozen=True, kw_only=True)
class MergeInput:
    """Rows that a merge reads for the fetched pages."""

    links: Mapping[str, tuple[LinkCandidate, ...]]
    """Links that each page's row refers to, in order, by the page's key."""
    originals: Mapping[str, str]
    """Key of the first page with a content, by the content's hash; unknown hashes are left out."""

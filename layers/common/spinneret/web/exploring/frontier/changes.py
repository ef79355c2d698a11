"""One atomic change of a crawl's rows as a value: rules build it, a store applies it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spinneret.web.exploring.frontier.models import Crawl, Page


@dataclass(frozen=True, kw_only=True)
class CounterDelta:
    """Amounts that a change adds to the crawl's counters."""

    discovered: int = 0
    crawled: int = 0
    failed: int = 0


@dataclass(frozen=True, kw_only=True)
class PageUpdate:
    """Change of one row, applied if its state, fence and depth still equal `before`."""

    before: Page
    after: Page


@dataclass(frozen=True, kw_only=True)
class FrontierTransaction:
    """Rows of one crawl that change atomically; at most 100, including the crawl's own row."""

    plus: CounterDelta = field(default_factory=CounterDelta)
    before: Crawl | None = None
    """Fence and batch that a driver's change requires; None skips the check."""
    after: Crawl | None = None
    """New fence, batch, depth and end; counters change only by `plus`."""
    new: tuple[Page, ...] = ()
    """New rows; they must not exist yet."""
    moves: tuple[PageUpdate, ...] = ()
    standing: tuple[Page, ...] = ()
    """Rows that must still have this state and fence."""
    used: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Quota → usage before and after the change."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """New content hash → key of the first page that has it."""

"""One atomic change of a crawl's rows, as a value: rules write it down, a store carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spinneret.web.exploring.frontier.models import Crawl, Page


@dataclass(frozen=True, kw_only=True)
class CounterDelta:
    """What a change adds to the crawl's counters."""

    discovered: int = 0
    crawled: int = 0
    failed: int = 0


@dataclass(frozen=True, kw_only=True)
class PageUpdate:
    """A row's change; it happens if state, fence and depth are still those of `before`."""

    before: Page
    after: Page


@dataclass(frozen=True, kw_only=True)
class FrontierTransaction:
    """Rows of one crawl that change together or not at all; at most 100, the crawl's among them."""

    plus: CounterDelta = field(default_factory=CounterDelta)
    before: Crawl | None = None
    """The driver's changes hold only while fence and batch are those; None doesn't ask."""
    after: Crawl | None = None
    """New fence, batch, depth and end; counters change by `plus` alone."""
    new: tuple[Page, ...] = ()
    """Rows that mustn't exist."""
    moves: tuple[PageUpdate, ...] = ()
    standing: tuple[Page, ...] = ()
    """Rows that must still have this state and fence."""
    used: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Quota → how much of it was used, and is then."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """Content hash, which mustn't be known → key of the first page that has it."""

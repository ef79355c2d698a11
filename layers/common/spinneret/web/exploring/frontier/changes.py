"""One atomic change of a crawl's rows as a value: rules build it, a store applies it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spinneret.web.exploring.frontier.models import Crawl, FrontierPage


@dataclass(frozen=True, kw_only=True)
class CounterDelta:
    """Amounts that a change adds to the crawl's counters."""

    discovered: int = 0
    crawled: int = 0
    failed: int = 0

    def __add__(self, other: "CounterDelta") -> "CounterDelta":
        return CounterDelta(
            discovered=self.discovered + other.discovered,
            crawled=self.crawled + other.crawled,
            failed=self.failed + other.failed,
        )


@dataclass(frozen=True, kw_only=True)
class PageUpdate:
    """Change of one row, applied if its state, fence and depth still equal `before`."""

    before: FrontierPage
    after: FrontierPage


@dataclass(frozen=True, kw_only=True)
class FrontierTransaction:
    """Rows of one crawl that change atomically; at most 100, including the crawl's own row."""

    plus: CounterDelta = field(default_factory=CounterDelta)
    before: Crawl | None = None
    """Fence and batch that a driver's change requires; None skips the check."""
    counted: bool = False
    """Whether it requires the counters of `before`, too: no page ended since that was read."""
    after: Crawl | None = None
    """New fence, batch, depth and end; counters change only by `plus`."""
    new: tuple[FrontierPage, ...] = ()
    """New rows; they must not exist yet."""
    moves: tuple[PageUpdate, ...] = ()
    standing: tuple[FrontierPage, ...] = ()
    """Rows that must still have this state and fence."""
    used: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Quota → usage before and after the change."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """New content hash → key of the first page that has it."""

    @property
    def rows(self) -> int:
        """Number of rows, without the crawl's own."""
        parts = (self.new, self.moves, self.standing, self.used, self.contents)
        return sum(map(len, parts))

    def then(self, later: "FrontierTransaction") -> "FrontierTransaction":
        """Return one change for this one and a later one of the same driver.

        A row that both change has one update, from the first state to the last.
        """
        moves = {move.after.key: move for move in self.moves}
        new = {page.key: page for page in self.new}
        for move in later.moves:
            key = move.after.key
            if key in new:
                new[key] = move.after
            else:
                before = moves[key].before if key in moves else move.before
                moves[key] = PageUpdate(before=before, after=move.after)
        used = {**self.used}
        for quota, (before_later, after) in later.used.items():
            used[quota] = (used.get(quota, (before_later, 0))[0], after)
        return replace(
            self,
            plus=self.plus + later.plus,
            after=later.after,
            new=(*new.values(), *later.new),
            moves=tuple(moves.values()),
            standing=(*self.standing, *later.standing),
            used=used,
            contents={**self.contents, **later.contents},
        )

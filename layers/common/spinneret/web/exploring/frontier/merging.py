"""Merge the links of a fetched page into the known pages: pure, as changes of bounded size.

Merging determines the order of a crawl: one driver merges one page after the other. It may stop
after any change and start over, since existing rows change nothing and count nothing. The last
change includes the page's own row, which marks it as merged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier import rules
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction, PageUpdate
from spinneret.web.exploring.frontier.guide import better
from spinneret.web.exploring.frontier.models import (
    Crawl,
    FrontierPage,
    LinkCandidate,
    PageState,
    Plan,
)

_HOST: Final = "host"
_CALENDAR: Final = "calendar"


class Dropped(StrEnum):
    """Why a link that belongs to the crawl isn't followed."""

    TOO_DEEP = "max_depth"
    SAME_CONTENT = "same_content"
    HOST_QUOTA = "host_quota"
    CALENDAR_QUOTA = "calendar_quota"
    FRONTIER_FULL = "frontier_full"


@dataclass(kw_only=True)
class FrontierView:
    """Rows that a driver has read, updated by its own changes."""

    pages: dict[str, FrontierPage] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    """Keys of pages that don't exist."""
    used: dict[str, int] = field(default_factory=dict)
    links: dict[str, tuple[LinkCandidate, ...]] = field(default_factory=dict)
    """Links of fetched pages that aren't merged yet."""
    originals: dict[str, str] = field(default_factory=dict)
    """First page with a content, by the content's hash."""
    discovered: int = 0

    def lacks(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that must be read before they can be merged."""
        return [key for key in keys if key not in self.pages and key not in self.absent]

    def learn(self, asked: Iterable[str], found: Mapping[str, FrontierPage]) -> None:
        """Add the result of a read."""
        self.absent.update(key for key in asked if key not in found)
        self.pages.update(found)

    def origin(self, key: str | None) -> FrontierPage | None:
        """Return the page that has the content, following `same_as`.

        Returns None for a missing page or a circle. Raises KeyError for a page that must be read
        first.
        """
        seen: set[str] = set()
        while key is not None and key not in seen:
            seen.add(key)
            if key in self.absent:
                return None
            page = self.pages[key]
            if page.same_as is None:
                return page
            key = page.same_as
        return None

    def apply(self, change: FrontierTransaction) -> None:
        """Apply a change that was written."""
        for page in (*change.new, *(move.after for move in change.moves)):
            self.pages[page.key] = page
            self.absent.discard(page.key)
        self.used.update({quota: after for quota, (_, after) in change.used.items()})
        self.originals.update(change.contents)
        self.discovered += change.plus.discovered


def quotas_of(plan: Plan, link: LinkCandidate) -> dict[str, tuple[int, Dropped]]:
    """Return the quotas that a new page uses: name → limit, and the reason if it is exhausted."""
    quotas: dict[str, tuple[int, Dropped]] = {}
    if plan.urls_per_host is not None:
        quotas[f"{_HOST}:{link.host}"] = (plan.urls_per_host, Dropped.HOST_QUOTA)
    if link.calendar is not None:
        quotas[f"{_CALENDAR}:{link.calendar}"] = (limits.CALENDAR_URLS_MAX, Dropped.CALENDAR_QUOTA)
    return quotas


def merged(
    crawl: Crawl,
    page: FrontierPage,
    links: Sequence[LinkCandidate],
    original: str | None,
    known: FrontierView,
    now: datetime,
) -> list[FrontierTransaction]:
    """Return all changes for a fetched page, for a driver to apply in this order.

    `original` is the key of the first page with this content, or None. `known` must contain the
    links, `original` and the pages they refer to by `same_as`; it isn't changed.
    """
    if page.same_as is not None:  # duplicate after a redirect
        return _as_name(crawl, page, page.same_as, PageState.DUPLICATE, known)
    if original is not None and original != page.key:
        copy = replace(page, same_as=original, skipped=_with(page, {Dropped.SAME_CONTENT: 1}))
        return _as_name(crawl, copy, original, PageState.CRAWLED, known, before=page)
    merge = _Merge(crawl, page, known, now)
    for number, link in enumerate(links):
        merge.add(number, link)
    contents = {} if page.content_hash is None or original else {page.content_hash: page.key}
    return merge.changes(contents)


def _as_name(
    crawl: Crawl,
    page: FrontierPage,
    origin: str,
    state: PageState,
    known: FrontierView,
    before: FrontierPage | None = None,
) -> list[FrontierTransaction]:
    """Mark the page as a duplicate; the original gets its depth if that is smaller."""
    moves = [PageUpdate(before=before or page, after=replace(page, state=state))]
    target = known.origin(origin)
    if target is not None and target.key != page.key:
        moves += _nearer(target, page.depth, page.parent)
    return [FrontierTransaction(before=crawl, after=crawl, moves=tuple(moves))]


def _nearer(target: FrontierPage, depth: int, parent: str | None) -> list[PageUpdate]:
    """Move a page that was found nearer to the start; its links must be merged again."""
    if depth >= target.depth:
        return []
    after = replace(target, depth=depth, parent=parent)
    match target.state:
        case PageState.CRAWLED:
            return [PageUpdate(before=target, after=replace(after, state=PageState.FETCHED))]
        case PageState.FETCHED:
            return [PageUpdate(before=target, after=after)]
        case _:
            return []


class _Merge:
    """Collects the changes for one page's links."""

    def __init__(
        self, crawl: Crawl, page: FrontierPage, known: FrontierView, now: datetime
    ) -> None:
        self._crawl = crawl
        self._page = page
        self._known = known
        self._now = now
        self._new: dict[str, tuple[FrontierPage, dict[str, tuple[int, Dropped]]]] = {}
        self._moves: dict[str, PageUpdate] = {}
        self._used: dict[str, int] = {}
        self._dropped: Counter[Dropped] = Counter()

    def add(self, number: int, link: LinkCandidate) -> None:
        """Add the next link."""
        depth = self._page.depth + 1
        if depth > self._crawl.plan.max_depth:
            self._dropped[Dropped.TOO_DEEP] += 1
        elif link.key in self._known.absent:
            self._discover(number, link, depth)
        else:
            target = self._known.origin(link.key)
            if target is not None and target.key != self._page.key:
                moved = self._moves.get(target.key)
                self._meet(number, link, depth, target if moved is None else moved.after)

    def _discover(self, number: int, link: LinkCandidate, depth: int) -> None:
        quotas = quotas_of(self._crawl.plan, link)
        for quota, (limit, reason) in quotas.items():
            if self._used_of(quota) >= limit:
                self._dropped[reason] += 1
                return
        if self._known.discovered + len(self._new) >= limits.FRONTIER_URLS_MAX:
            self._dropped[Dropped.FRONTIER_FULL] += 1
            return
        for quota in quotas:
            self._used[quota] = self._used_of(quota) + 1
        page = FrontierPage(
            key=link.key,
            url=link.url,
            host=link.host,
            depth=depth,
            state=PageState.WAITING,
            rank=self._rank(number, depth, link.score),
            discovered_at=self._now,
            score=link.score,
            parent=self._page.url,
        )
        self._new[link.key] = (page, quotas)

    def _meet(self, number: int, link: LinkCandidate, depth: int, target: FrontierPage) -> None:
        """Update a known target that this link makes nearer or scores higher."""
        if target.state is not PageState.WAITING:
            for move in _nearer(target, depth, self._page.url):
                self._change(move)
            return
        is_nearer, is_better = depth < target.depth, better(link.score, target.score)
        if not (is_nearer or is_better):
            return
        near = min(depth, target.depth)
        score = link.score if is_better else target.score
        after = replace(
            target,
            depth=near,
            score=score,
            parent=self._page.url if is_nearer else target.parent,
            rank=self._rank(number, near, score),
        )
        self._change(PageUpdate(before=target, after=after))

    def _change(self, move: PageUpdate) -> None:
        """Combine changes of one page, which may have several names, into one change of its row."""
        former = self._moves.get(move.after.key)
        before = move.before if former is None else former.before
        self._moves[move.after.key] = PageUpdate(before=before, after=move.after)

    def _rank(self, number: int, depth: int, score: float | None) -> str:
        found = (self._page.batch, self._page.position, number)
        return rules.rank(self._crawl.plan, depth, score, found)

    def _used_of(self, quota: str) -> int:
        return self._used.get(quota, self._known.used.get(quota, 0))

    def changes(self, contents: Mapping[str, str]) -> list[FrontierTransaction]:
        """Return changes small enough for one write each; the last includes the page's own row."""
        done = replace(
            self._page,
            state=PageState.CRAWLED,
            skipped=_with(self._page, dict(self._dropped)),
        )
        own = PageUpdate(before=self._page, after=done)
        pieces = [*self._pieces_of_new(), *self._pieces_of_moves()]
        last = (
            pieces.pop() if pieces else FrontierTransaction(before=self._crawl, after=self._crawl)
        )
        return [*pieces, replace(last, moves=(*last.moves, own), contents=dict(contents))]

    def _pieces_of_new(self) -> list[FrontierTransaction]:
        pieces: list[FrontierTransaction] = []
        pages: list[FrontierPage] = []
        used: dict[str, int] = {}
        total = dict(self._known.used)

        def close() -> None:
            if not pages:
                return
            quotas = {q: (total.get(q, 0), total.get(q, 0) + n) for q, n in used.items()}
            total.update({quota: after for quota, (_, after) in quotas.items()})
            pieces.append(
                FrontierTransaction(
                    plus=CounterDelta(discovered=len(pages)),
                    before=self._crawl,
                    after=self._crawl,
                    new=tuple(pages),
                    used=quotas,
                )
            )
            pages.clear()
            used.clear()

        for page, quotas in self._new.values():
            if len(pages) + 1 + len(used.keys() | quotas.keys()) > limits.FRONTIER_ROWS_PER_WRITE:
                close()
            pages.append(page)
            for quota in quotas:
                used[quota] = used.get(quota, 0) + 1
        close()
        return pieces

    def _pieces_of_moves(self) -> list[FrontierTransaction]:
        moves = list(self._moves.values())
        size = limits.FRONTIER_ROWS_PER_WRITE
        return [
            FrontierTransaction(
                before=self._crawl, after=self._crawl, moves=tuple(moves[start : start + size])
            )
            for start in range(0, len(moves), size)
        ]


def _with(page: FrontierPage, dropped: Mapping[Dropped, int]) -> dict[str, int]:
    """Return the page's skip reasons, replacing counts of an earlier merge."""
    kept = {name: count for name, count in page.skipped.items() if name not in set(Dropped)}
    return kept | {reason.value: count for reason, count in dropped.items()}

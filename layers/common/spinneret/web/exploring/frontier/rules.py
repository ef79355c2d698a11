"""Pure functions of the frontier: each returns a value, or a change for a store to apply."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction, PageUpdate
from spinneret.web.exploring.frontier.keys import key_of
from spinneret.web.exploring.frontier.models import (
    Crawl,
    Deferred,
    Failed,
    Fetched,
    FetchOutcome,
    FrontierPage,
    PageState,
    Plan,
    Redirected,
    Strategy,
)
from spinneret.web.exploring.scoring import PLACES
from spinneret.web.exploring.traps import identity_of
from spinneret.web.fetching.urls import Url, parse_url

LOST: Final = "WORKER_LOST"
"""Error code of a page whose workers died too often."""
_BATCH_MAX: Final = 999_999
_BEST: Final = 10**PLACES


# ---------------------------------------------------------------- Order


def rank(plan: Plan, depth: int, score: float | None, found: tuple[int, int, int]) -> str:
    """Return the sort key of a waiting page.

    `found` holds batch and position of the page with the link, and the link's position in it. Two
    links never have the same rank.
    """
    batch, position, link = found
    place = f"{position:02}.{link:05}"
    match plan.strategy:
        case Strategy.BFS:
            return f"{depth:03}.{batch:06}.{place}"
        case Strategy.DFS:
            return f"{_BATCH_MAX - batch:06}.{place}"
        case Strategy.BEST_FIRST:
            behind = 0 if score is None else _BEST - round(_BEST * score)
            return f"{behind:04}.{batch:06}.{place}"


# ---------------------------------------------------------------- Driver


def seeds(crawl: Crawl, urls: Sequence[str], now: datetime) -> tuple[FrontierPage, ...]:
    """Return the pages of start URLs, each once; scope and keywords don't apply to them."""
    pages: dict[str, FrontierPage] = {}
    for number, url in enumerate(map(parse_url, urls)):
        key = key_of(identity_of(url))
        pages.setdefault(
            key,
            FrontierPage(
                key=key,
                url=url.text,
                host=url.host,
                depth=0,
                state=PageState.WAITING,
                rank=rank(crawl.plan, 0, None, (0, 0, number)),
                discovered_at=now,
                score=1.0 if crawl.plan.keywords else None,
            ),
        )
    return tuple(pages.values())


def take_over(crawl: Crawl, fence: int) -> FrontierTransaction:
    """Let a new driver take over the crawl; writes of the former one are rejected from then on."""
    return FrontierTransaction(before=crawl, after=replace(crawl, fence=fence))


def places_left(crawl: Crawl) -> int:
    """Return the maximum size of the next batch; all of its pages must fit the budget."""
    return min(crawl.plan.batch_pages, crawl.plan.max_pages - crawl.crawled)


def taken(
    crawl: Crawl, waiting: Sequence[FrontierPage], now: datetime
) -> tuple[Crawl, FrontierTransaction]:
    """Open the next batch; return the crawl with it, and the change."""
    batch = crawl.batch + 1
    moves = [
        PageUpdate(
            before=page,
            after=replace(page, state=PageState.OPEN, batch=batch, position=position, due_at=now),
        )
        for position, page in enumerate(waiting)
    ]
    depth = max([crawl.current_depth, *(page.depth for page in waiting)])
    after = replace(crawl, batch=batch, current_depth=depth)
    change = FrontierTransaction(before=crawl, after=after, counted=True, moves=tuple(moves))
    return after, change


def reopened(crawl: Crawl, fence: int, failed: Sequence[FrontierPage]) -> FrontierTransaction:
    """Restart a crawl that ended without a page, with the pages that failed."""
    again = (
        replace(page, state=PageState.WAITING, attempts=0, due_at=None, finished_at=None)
        for page in failed
    )
    return FrontierTransaction(
        before=crawl,
        after=replace(crawl, fence=fence, ended_at=None, end_reason=None),
        plus=CounterDelta(failed=-len(failed)),
        moves=tuple(
            PageUpdate(before=page, after=after) for page, after in zip(failed, again, strict=True)
        ),
    )


def is_expired(crawl: Crawl, now: datetime) -> bool:
    """Whether the crawl has reached its maximum duration."""
    return now >= crawl.begun_at + timedelta(seconds=bounds.FRONTIER_SECONDS)


def free_at(page: FrontierPage) -> datetime:
    """Return when an open page may be claimed; an expired lease frees it too."""
    moments = [moment for moment in (page.due_at, page.leased_until) if moment is not None]
    return max(moments, default=page.discovered_at)


def is_lost(page: FrontierPage, now: datetime) -> bool:
    """Whether the lease of the last permitted attempt has expired."""
    return (
        page.leased_until is not None
        and page.leased_until <= now
        and page.attempts + 1 >= bounds.PAGE_ATTEMPTS
    )


def given_up(page: FrontierPage, now: datetime) -> FrontierTransaction:
    """Fail a page that `is_lost`."""
    counted = replace(page, attempts=page.attempts + 1, owner=None)
    return _failed(page, counted, Failed(error_code=LOST), now)


# ---------------------------------------------------------------- Worker


def claimed(page: FrontierPage, owner: str, until: datetime) -> FrontierPage:
    """Lease the page to a worker until then; an expired lease counts as an attempt."""
    return replace(
        page,
        fence=page.fence + 1,
        owner=owner,
        leased_until=until,
        attempts=page.attempts + (page.leased_until is not None),
    )


def recorded(
    page: FrontierPage, outcome: FetchOutcome, links: int, skipped: Mapping[str, int], now: datetime
) -> FrontierTransaction:
    """Record the outcome of a claimed page, whose links are stored in `links` chunks.

    A deferral that is charged counts as an attempt; the last attempt makes it final.
    """
    released = replace(page, leased_until=None)
    match outcome:
        case Deferred():
            return _deferred(page, released, outcome, now)
        case Failed():
            return _failed(page, released, outcome, now)
        case Redirected():
            after = replace(
                released,
                state=PageState.FETCHED,
                same_as=outcome.to,
                final_url=outcome.final_url,
                finished_at=now,
            )
            return FrontierTransaction(moves=(PageUpdate(before=page, after=after),))
        case Fetched():
            after = replace(
                released,
                state=PageState.FETCHED,
                link_chunks=links,
                links_fence=page.fence,
                content_hash=outcome.content_hash,
                final_url=outcome.final_url,
                status_code=outcome.status_code,
                fetch_ms=outcome.fetch_ms,
                document_id=outcome.document_id,
                change=outcome.change,
                parts_key=outcome.parts_key,
                error_code=None,
                error_message=None,
                finished_at=now,
                skipped=dict(skipped),
            )
            return FrontierTransaction(
                plus=CounterDelta(crawled=1), moves=(PageUpdate(before=page, after=after),)
            )


def is_claim_of(page: FrontierPage, claimed_page: FrontierPage) -> bool:
    """Whether the row still has this claim, without an outcome."""
    same = (page.state, page.fence, page.owner) == (
        claimed_page.state,
        claimed_page.fence,
        claimed_page.owner,
    )
    return same and page.leased_until is not None


def is_nearer(page: FrontierPage, claimed_page: FrontierPage) -> bool:
    """Whether the row still has this claim and a redirect moved it nearer to the start."""
    return is_claim_of(page, claimed_page) and page.depth < claimed_page.depth


def is_recorded(page: FrontierPage, claimed_page: FrontierPage) -> bool:
    """Whether the row already holds the claim's outcome: its writer lost the response."""
    ended_claim = page.state is not PageState.OPEN or page.leased_until is None
    return page.fence == claimed_page.fence and page.owner == claimed_page.owner and ended_claim


def _deferred(
    page: FrontierPage, released: FrontierPage, outcome: Deferred, now: datetime
) -> FrontierTransaction:
    after = replace(
        released,
        due_at=max(now, outcome.until),
        attempts=page.attempts + outcome.is_charged,
        error_code=outcome.error_code,
        error_message=outcome.error_message,
        status_code=outcome.status_code,
    )
    if after.attempts >= bounds.PAGE_ATTEMPTS:
        failure = Failed(
            error_code=outcome.error_code,
            error_message=outcome.error_message,
            status_code=outcome.status_code,
        )
        return _failed(page, after, failure, now)
    return FrontierTransaction(moves=(PageUpdate(before=page, after=after),))


def _failed(
    before: FrontierPage, released: FrontierPage, outcome: Failed, now: datetime
) -> FrontierTransaction:
    after = replace(
        released,
        state=PageState.FAILED,
        leased_until=None,
        error_code=outcome.error_code,
        error_message=outcome.error_message[: bounds.EVENT_MESSAGE_CHARS],
        status_code=outcome.status_code,
        final_url=outcome.final_url,
        finished_at=now,
    )
    return FrontierTransaction(
        plus=CounterDelta(failed=1), moves=(PageUpdate(before=before, after=after),)
    )


# ---------------------------------------------------------------- Redirects


def stands_for(page: FrontierPage | None, visitor: FrontierPage) -> bool:
    """Whether the target is new, waiting, or this visit's own, so that it may be requested."""
    if page is None or page.state is PageState.WAITING:
        return True
    if page.key == visitor.key:
        return True
    return page.state is PageState.DUPLICATE and page.same_as == visitor.key


def followed(
    visitor: FrontierPage, target: FrontierPage | None, url: Url, key: str, now: datetime
) -> FrontierTransaction:
    """Take a redirect's target for the visit; requires `stands_for`.

    The visit's own page must be unchanged since its claim. It gets the target's depth if that is
    smaller: see `nearer`.
    """
    if target is not None and target.state is not PageState.WAITING:
        return FrontierTransaction(standing=(visitor,))
    alias = replace(
        target
        or FrontierPage(
            key=key,
            url=url.text,
            host=url.host,
            depth=visitor.depth,
            state=PageState.WAITING,
            rank="",
            discovered_at=now,
            parent=visitor.url,
        ),
        state=PageState.DUPLICATE,
        batch=visitor.batch,
        position=visitor.position,
        same_as=visitor.key,
        finished_at=now,
    )
    if target is None:
        return FrontierTransaction(
            plus=CounterDelta(discovered=1), new=(alias,), standing=(visitor,)
        )
    led = nearer(visitor, target)
    if led is visitor:
        return FrontierTransaction(
            moves=(PageUpdate(before=target, after=alias),), standing=(visitor,)
        )
    return FrontierTransaction(
        moves=(PageUpdate(before=target, after=alias), PageUpdate(before=visitor, after=led))
    )


def nearer(visitor: FrontierPage, target: FrontierPage) -> FrontierPage:
    """Return the visit's page with the target's depth if smaller; a redirect isn't a link."""
    if target.depth >= visitor.depth:
        return visitor
    return replace(visitor, depth=target.depth, parent=target.parent)

"""The pages that a crawl of the site must request, by the site's graph and the crawl's plan.

The oracle uses no code of the product and parses nothing as the product does. It implements the
limits that keep a crawl out of traps as the product's documents describe them.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.traps.site import KEYWORD, OUTSIDE, Link, TrapSite, words_of

REDIRECTS_FOLLOWED: Final = 10
TRIES: Final = 3
"""Tries of a page that responds with 429 or 5xx."""
_BATCH: Final = 25
_SEGMENTS: Final = 20
_PARAMETERS: Final = 20
_IN_A_ROW: Final = 2
_NOFOLLOW: Final = "nofollow"
_CALENDAR_PAGES: Final = 100
_YEARS_AHEAD: Final = 1
_ARCHIVE_AFTER: Final = 12 * 2021
"""First month after the archive, in months since year 0; the archive's latest month is 12/2020."""

Follows = Callable[[str], bool]
"""Function that returns whether a crawl follows links to a page."""


def _any(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Visited:
    """Expected result of a crawl that `max_pages` doesn't limit."""

    asked: frozenset[str]
    """Names of all requested pages."""
    had: frozenset[str]
    """Names of the pages that count: fetched successfully."""
    again: frozenset[str]
    """Names of the pages that are requested TRIES times."""


def visited(site: TrapSite, max_depth: int = 100, *, by_keyword: bool = False) -> Visited:
    """Return the expected result of a crawl of `max_depth` links; a redirect adds no depth.

    `by_keyword` follows only links whose text contains the keyword.
    """
    follows = _is_about_it if by_keyword else _any
    depths = {"/": 0}
    queue = deque(["/"])
    asked: set[str] = set()
    while queue:
        name = queue.popleft()
        hops = hops_from(site, name, follows)
        asked.update(hops)
        if not hops or depths.get(hops[-1], max_depth) < depths[name]:
            continue
        last = site.node(hops[-1])
        depth = depths[hops[-1]] = depths[name]
        if last is None or not last.is_page or depth == max_depth:
            continue
        for to in dict.fromkeys(link.to for link in last.links if link.rel != _NOFOLLOW):
            if to is None or not follows(to) or is_endless(site, to, follows):
                continue
            if depth + 1 < depths.get(to, max_depth + 1):
                depths[to] = depth + 1
                queue.append(to)
    nodes = {name: site.node(name) for name in asked}
    return Visited(
        asked=frozenset(asked),
        had=frozenset(name for name, node in nodes.items() if node and node.is_page),
        again=frozenset(name for name, node in nodes.items() if node and node.status in {429, 500}),
    )


def first_visited(site: TrapSite, max_pages: int) -> frozenset[str]:
    """Return the pages that a breadth-first crawl requests, in queue order, within its budget.

    If a redirect's target is in the same batch, it is requested at its own place in the batch.
    """
    waiting: dict[str, None] = {"/": None}
    taken: set[str] = set()
    asked: set[str] = set()
    had = 0
    while waiting and had < max_pages:
        batch = list(waiting)[: min(_BATCH, max_pages - had)]
        taken.update(batch)
        found: list[Link] = []
        for name in batch:
            del waiting[name]
            for hop in hops_from(site, name):
                if hop != name and hop in taken:
                    break
                taken.add(hop)
                asked.add(hop)
                waiting.pop(hop, None)
                node = site.node(hop)
                if node is not None and node.is_page:
                    had += 1
                    found += node.links
        names = (link.to for link in found if link.to is not None and link.rel != _NOFOLLOW)
        waiting.update(dict.fromkeys(to for to in names if to not in taken and _is_open(site, to)))
    return frozenset(asked)


def sized(pages: int, year: int, *, is_long: bool) -> TrapSite:
    """Return the site from which a crawl gets exactly `pages` pages."""
    traps = len(visited(TrapSite(1, year, is_long)).had) - 1
    assert pages > traps, f"{traps} pages are traps"
    return TrapSite(pages - traps, year, is_long)


def hops_from(site: TrapSite, name: str, follows: Follows = _any) -> list[str]:
    """Return the pages that a crawl requests for a link: its target and what that redirects to."""
    hops: list[str] = []
    while not (
        name in hops or name == OUTSIDE or is_closed(name) or is_endless(site, name, follows)
    ):
        hops.append(name)
        node = site.node(name)
        if node is None or node.to is None or len(hops) > REDIRECTS_FOLLOWED:
            break
        name = node.to
    return hops


def is_closed(name: str) -> bool:
    """Return whether robots.txt disallows the page."""
    return name.startswith("/closed/") and name != "/closed/open"


def is_endless(site: TrapSite, name: str, follows: Follows = _any) -> bool:
    """Return whether a crawl takes the page for another page of a trap.

    Of a calendar, a crawl requests only the first hundred pages to which it `follows` links.
    """
    path, _, query = name.partition("?")
    segments = path.strip("/").split("/")
    if len(segments) > _SEGMENTS or len(query.split("&")) > _PARAMETERS:
        return True
    if segments[0] == "calendar" and len(segments) == 2:
        return int(segments[1][:4]) > site.year + _YEARS_AHEAD
    if segments[0] == "archive":
        month = 12 * int(segments[1]) + int(segments[2]) - 1
        later = (f"/archive/{m // 12}/{m % 12 + 1:02}" for m in range(month + 1, _ARCHIVE_AFTER))
        return sum(map(follows, later)) >= _CALENDAR_PAGES
    return any(
        segments[at : at + size] * (_IN_A_ROW + 1) == segments[at : at + size * (_IN_A_ROW + 1)]
        for size in (1, 2)
        for at in range(len(segments) - size * (_IN_A_ROW + 1) + 1)
    )


def _is_open(site: TrapSite, name: str) -> bool:
    return not is_endless(site, name)


def _is_about_it(name: str) -> bool:
    return KEYWORD in words_of(name)

"""Which pages of the site a crawl asks for: computed from the site's graph and the crawl's plan.

Nothing of the product is used, and nothing is parsed as the product does it. What keeps a crawl out
of a trap stands here in the words of the product's documents.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.traps.site import KEYWORD, OUTSIDE, Link, TrapSite, words_of

REDIRECTS_FOLLOWED: Final = 10
TRIES: Final = 3
"""Of a page that answers 429 or 5xx."""
_BATCH: Final = 25
_SEGMENTS: Final = 20
_PARAMETERS: Final = 20
_IN_A_ROW: Final = 2
_NOFOLLOW: Final = "nofollow"
_CALENDAR_PAGES: Final = 100
_YEARS_AHEAD: Final = 1
_ARCHIVE_AFTER: Final = 12 * 2021
"""Its first month is the last one of 2020."""

Follows = Callable[[str], bool]
"""Whether links to a page are followed."""


def _any(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Visited:
    """What becomes of a site in a crawl whose `max_pages` don't end it."""

    asked: frozenset[str]
    """Names of pages."""
    had: frozenset[str]
    """Those of them that count: fetched with success."""
    again: frozenset[str]
    """Those of them that are asked for TRIES times."""


def visited(site: TrapSite, max_depth: int = 100, *, by_keyword: bool = False) -> Visited:
    """All pages within so many links; a redirect is no step.

    `by_keyword` follows only links whose text has the keyword.
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
    """What a breadth-first crawl asks for until its budget ends it: pages in the order of a queue.

    A redirect's target is asked for in its turn where it is in the same batch.
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
    """The site of which a crawl has so many pages in the end."""
    traps = len(visited(TrapSite(1, year, is_long)).had) - 1
    assert pages > traps, f"{traps} pages are traps"
    return TrapSite(pages - traps, year, is_long)


def hops_from(site: TrapSite, name: str, follows: Follows = _any) -> list[str]:
    """What is asked for where a crawl sets out for a page: it and what it redirects to."""
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
    """To robots.txt."""
    return name.startswith("/closed/") and name != "/closed/open"


def is_endless(site: TrapSite, name: str, follows: Follows = _any) -> bool:
    """Whether it is what a crawl takes for one more page of a trap.

    Of a calendar a crawl knows the first hundred pages that it `follows` links to.
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

"""What forum software puts around a post: its author's card, the line with its date, a signature.

In the HTML these stand inside a post, so that engines take them along. Forum programs are few, and
call them by class names of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lxml import etree

from spinneret.content.extraction.runs import Run

# One name per line would fill pages.
# fmt: off
_AROUND_POSTS: Final = frozenset({
    "message-user", "message-cell--user", "message-attribution", "message-signature",  # XenForo
    "crawler-post-meta", "crawler-linkback-list", "post-likes",  # Discourse, as crawlers see it
    "postprofile", "signature",  # phpBB; the second one everywhere
    "userinfo", "posthead", "postfoot", "signaturecontainer",  # vBulletin
    "cauthorpane", "ipscomment_author", "ipscomment_meta",  # Invision
    "post_author",  # MyBB
    "post-signature", "user-info",  # Stack Exchange
    "tagline",  # Reddit
})
# fmt: on
_LEAST_LEFT: Final = 0.4
"""Of the words chosen: with less, a name of these is around the posts themselves."""


def without_what_surrounds_posts(runs: Sequence[Run], chosen: Sequence[bool]) -> Sequence[bool]:
    """The choice without these runs; as it is where they are most of it."""
    around = _inside(run.block for run in runs)
    posts = [taken and run.block not in around for run, taken in zip(runs, chosen, strict=True)]
    return posts if _words(runs, posts) >= _LEAST_LEFT * _words(runs, chosen) else chosen


def _inside(blocks: Iterable[etree._Element]) -> set[etree._Element]:
    """Those of the blocks that are inside such an element. Each element is looked at once."""
    known: dict[etree._Element, bool] = {}
    found: set[etree._Element] = set()
    for block in blocks:
        way: list[etree._Element] = []
        at: etree._Element | None = block
        while at is not None and at not in known:
            way.append(at)
            if not _AROUND_POSTS.isdisjoint((at.get("class") or "").lower().split()):
                known[at] = True
                break
            at = at.getparent()
        known.update(dict.fromkeys(way, at is not None and known[at]))
        if known[block]:
            found.add(block)
    return found


def _words(runs: Sequence[Run], marks: Sequence[bool]) -> int:
    return sum(len(run.words) for run, marked in zip(runs, marks, strict=True) if marked)

"""Removes what forum software adds to posts: author cards, date lines and signatures.

These elements are inside of posts in the HTML, so engines include them. There are only a few forum
programs, each with its own class names.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from lxml import etree

from spinneret.content.extraction.runs import Run

# One name per line would take too much space.
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
"""Minimum share of the chosen words to keep. With less, such a name contains the posts
themselves."""


def without_what_surrounds_posts(runs: Sequence[Run], chosen: Sequence[bool]) -> Sequence[bool]:
    """Return the choice without these runs; unchanged if they are most of it."""
    around = _inside(run.block for run in runs)
    posts = [taken and run.block not in around for run, taken in zip(runs, chosen, strict=True)]
    return posts if _words(runs, posts) >= _LEAST_LEFT * _words(runs, chosen) else chosen


def _inside(blocks: Iterable[etree._Element]) -> set[etree._Element]:
    """Return the blocks inside such an element. Visits each element once."""
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

"""Removes what forum software adds to posts: author cards, date lines, buttons and signatures.

These elements are inside of posts in the HTML, so engines include them. There are only a few forum
programs, each with its own class names.
"""

from collections.abc import Sequence
from typing import Final

from lxml import etree

from spinneret.content.extraction.ancestry import is_inside
from spinneret.content.extraction.runs import Run

# One name per line would take too much space.
# fmt: off
_AROUND_POSTS: Final = frozenset({
    "message-user", "message-cell--user", "message-attribution", "message-signature",
    "bbcodeblock-expandlink",  # XenForo
    "crawler-post-meta", "crawler-linkback-list", "post-likes",  # Discourse, as crawlers see it
    "postprofile", "post-buttons", "profile-icons", "signature",  # phpBB; the last one everywhere
    "userinfo", "posthead", "postfoot", "signaturecontainer",  # vBulletin
    "cauthorpane", "ipscomment_author", "ipscomment_meta",  # Invision
    "post_author",  # MyBB
    "post-signature", "user-info", "answers-subheader", "js-bottom-notice", "aside-cta",
    # Stack Exchange
    "tagline",  # Reddit
})
# fmt: on
_LEAST_LEFT: Final = 0.4
"""Minimum share of the chosen words to keep. With less, such a name contains the posts
themselves."""


def without_what_surrounds_posts(runs: Sequence[Run], chosen: Sequence[bool]) -> Sequence[bool]:
    """Return the choice without these runs; unchanged if they are most of it."""
    known: dict[etree._Element, bool] = {}
    posts = [
        taken and not is_inside(run.block, _is_around_posts, known)
        for run, taken in zip(runs, chosen, strict=True)
    ]
    return posts if _words(runs, posts) >= _LEAST_LEFT * _words(runs, chosen) else chosen


def _is_around_posts(element: etree._Element) -> bool:
    return not _AROUND_POSTS.isdisjoint((element.get("class") or "").lower().split())


def _words(runs: Sequence[Run], marks: Sequence[bool]) -> int:
    return sum(len(run.words) for run, marked in zip(runs, marks, strict=True) if marked)

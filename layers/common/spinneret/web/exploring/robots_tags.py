"""Directives of a page to crawlers: `meta` elements named for them, and the header X-Robots-Tag.

Both hold directives for all crawlers, named `robots`, or for one crawler. The fetcher joins
repeated headers with commas, so values are split only at commas that separate directives.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

ANYBODY: Final = "robots"
HEADER: Final = "x-robots-tag"
MAX_TAG_CHARS: Final = 2000

_FORBID_FOLLOWING: Final = frozenset({"nofollow", "none"})
# Names of directives that have values; any other name before a colon is a crawler's.
_DATE: Final = re.compile(r"(unavailable_after)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUED: Final = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_AGENT: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9._-]*)\s*:(.*)", re.DOTALL)


def forbids_following(directives: Iterable[str]) -> bool:
    """Whether the directives forbid following any link of the page."""
    return not _FORBID_FOLLOWING.isdisjoint(directives)


def tags_of(value: str) -> dict[str, tuple[str, ...]]:
    """Parse X-Robots-Tag: map each agent in lower case to its directives.

    For example, `noindex, bingbot: nofollow, noarchive` addresses two agents.
    """
    found: dict[str, list[str]] = {}
    agent = ANYBODY
    for part in _parts(value[:MAX_TAG_CHARS]):
        named = _AGENT.match(part)
        if named and named[1].lower() not in _VALUED:
            agent = named[1].lower()
            found.setdefault(agent, []).extend(directives_of(named[2]))
        else:
            found.setdefault(agent, []).extend(directives_of(part))
    return {agent: tuple(directives) for agent, directives in found.items() if directives}


def directives_of(content: str) -> tuple[str, ...]:
    """Return directives in lower case, without blanks around colons; dates keep their spelling."""
    directives = []
    for part in _parts(content):
        date = _DATE.match(part.strip())
        if date:
            directives.append(f"unavailable_after:{date[2].strip()}")
        elif part.strip():
            directives.append("".join(part.lower().split()))
    return tuple(directives)


def _parts(value: str) -> Iterator[str]:
    """Split at commas, but not within a date (`Sat, 25 Jun 2033 …`)."""
    pending = ""
    for part in value.split(","):
        if pending:
            yield f"{pending},{part}"
            pending = ""
        elif re.fullmatch(r".*unavailable_after\s*:\s*[A-Za-z]{3,9}", part.strip(), re.IGNORECASE):
            pending = part
        else:
            yield part
    if pending:
        yield pending

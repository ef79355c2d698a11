"""Select the files of a site to read: from robots.txt, then from indexes, within bounds."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from spinneret.kernel.errors import UrlInvalid
from spinneret.web.exploring import limits
from spinneret.web.exploring.sitemaps.models import SitemapEntry
from spinneret.web.fetching.urls import Url, cache_url, join_url, parse_url
from spinneret.web.politeness.robots import Robots

_USUAL_PLACES: Final = ("/sitemap.xml", "/sitemap_index.xml")
_NEVER: Final = datetime(1, 1, 1, tzinfo=UTC)


def first_sitemaps(site: Url, robots: Robots | None) -> tuple[str, ...]:
    """Return the files that robots.txt names, else the usual locations.

    Files may be on any host (sitemaps.org allows that).
    """
    if robots is not None and robots.sitemaps:
        return robots.sitemaps
    places = (join_url(site, place) for place in _USUAL_PLACES)
    return tuple(place.text for place in places if place is not None)


@dataclass(frozen=True, order=True)
class SitemapFile:
    """One file to read; files sort in reading order."""

    nesting: int
    """Number of indexes above it."""
    age: float
    """Negated time of the last change in seconds, so that the newest sort first."""
    number: int
    url: str

    @property
    def may_be_index(self) -> bool:
        """Whether the files that it names are read too."""
        return self.nesting < limits.SITEMAP_NESTING_MAX


class SitemapWalk:
    """Known files that aren't read yet. Each is read once, however many files name it."""

    def __init__(self, urls: Iterable[str], max_files: int = limits.SITEMAP_FILES_MAX) -> None:
        self.dropped = 0
        """Files that were named but skipped because of a bound."""
        self.read: list[str] = []
        """Files that were taken, in order."""
        self._left = max_files
        self._known: set[str] = set()
        self._waiting: list[SitemapFile] = []
        for url in urls:
            self._add(url, 0, None)

    def next_file(self) -> SitemapFile | None:
        """Take the next file; return None if there is none or the limit is reached."""
        if not self._waiting:
            return None
        if not self._left:
            self.dropped += len(self._waiting)
            self._waiting.clear()
            return None
        self._left -= 1
        file = heapq.heappop(self._waiting)
        self.read.append(file.url)
        return file

    def put_back(self, file: SitemapFile) -> None:
        """Put back a file that couldn't be read now; it is the next one again."""
        self.read.remove(file.url)
        self._left += 1
        heapq.heappush(self._waiting, file)

    def found(self, file: SitemapFile, entry: SitemapEntry) -> None:
        """Add a file that an index names."""
        if file.may_be_index:
            self._add(entry.url, file.nesting + 1, entry.last_modified)
        else:
            self.dropped += 1

    def kept(self) -> dict[str, Any]:
        """Return the state as JSON: files read, and as many waiting files as may still be read."""
        return {
            "left": self._left,
            "dropped": self.dropped,
            "read": self.read,
            "waiting": [astuple(file) for file in heapq.nsmallest(self._left, self._waiting)],
        }

    @classmethod
    def resumed(cls, kept: Mapping[str, Any]) -> Self:
        """Resume a walk from the result of `kept`."""
        walk = cls(kept["read"], kept["left"])
        walk._waiting.clear()
        walk.read, walk.dropped = list(kept["read"]), kept["dropped"]
        for nesting, age, number, url in kept["waiting"]:
            walk._known.add(cache_url(parse_url(url)))
            heapq.heappush(walk._waiting, SitemapFile(nesting, age, number, url))
        return walk

    def _add(self, url: str, nesting: int, changed: datetime | None) -> None:
        try:
            key = cache_url(parse_url(url))
        except UrlInvalid:  # robots.txt may contain any text
            self.dropped += 1
            return
        if key in self._known:
            return
        if len(self._known) >= limits.SITEMAP_PENDING_MAX:
            self.dropped += 1
            return
        self._known.add(key)
        age = -((changed or _NEVER) - _NEVER).total_seconds()
        heapq.heappush(self._waiting, SitemapFile(nesting, age, len(self._known), url))

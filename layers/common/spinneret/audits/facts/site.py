"""Facts of a site that no single page holds: its robots.txt, sitemaps, host, and what links to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from spinneret.audits.facts.models import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """A text file of the site: robots.txt, llms.txt."""

    status: int | None = None
    """None where nothing answered."""
    redirects: int = 0
    size: int = 0
    """Bytes of the whole file."""
    content: str = ""
    """Of robots.txt the first 500 KiB, of others the first 64."""

    @property
    def is_there(self) -> bool:
        """The file was answered."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_unreachable(self) -> bool:
        """No answer, or an error of the server."""
        return self.status is None or self.status >= 500


class SitemapUrl(NamedTuple):
    """A `url` of a sitemap."""

    url: str
    """As listed."""
    lastmod: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapFacts:
    """One sitemap file."""

    url: str
    status: int | None = 200
    size: int = 0
    """Bytes, decompressed."""
    error: str = ""
    """Why it can't be read: `not_xml`, `not_a_sitemap`, `empty`."""
    is_index: bool = False
    count: int = 0
    """URLs or sitemaps listed, those beyond the bound included."""
    entries: tuple[SitemapUrl, ...] = ()

    @property
    def is_there(self) -> bool:
        """The file was answered."""
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What the host answers beside its pages; None is "not asked"."""

    http_final_url: str | None = None
    """Where `http://host/` leads to."""
    other_www_final_url: str | None = None
    """Where the start page leads to with `www.` added or taken away; empty: it doesn't answer."""
    certificate_ends_at: str | None = None
    """ISO 8601."""


class Outcome(NamedTuple):
    """What a URL that isn't a page of the audit answered: an external link, an image, a PDF."""

    status: int | None = None
    """Of the last answer; None where nothing answered."""
    failure: Failure | None = None
    redirected_to: str = ""
    size: int | None = None
    """Bytes; None where it isn't known."""
    media_type: str = ""

    @property
    def is_broken(self) -> bool:
        """Nothing can be read there; what only refuses robots (401, 403, 429, 999) isn't broken."""
        if self.status is None:
            return self.failure is not Failure.ROBOTS
        return self.status >= 400 and self.status not in _REFUSALS


_REFUSALS = frozenset({401, 403, 407, 429, 451, 999})
"""Answers that say nothing of the page: many sites give them to whatever isn't a browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """All that is known of the site when its pages have been read."""

    start_url: str
    audited_at: str
    """ISO 8601, UTC: what ages are counted from."""
    robots: FileFacts = FileFacts()
    sitemaps: tuple[SitemapFacts, ...] = ()
    host: HostFacts = HostFacts()
    llms_txt: FileFacts = FileFacts(status=404)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """By URL; what isn't in here wasn't checked."""
    is_whole: bool = False
    """Every URL that the crawl found was read: no limit ended it."""

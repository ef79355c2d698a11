"""Facts of a site as a whole: robots.txt, sitemaps, host, and outcomes of links."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from spinneret.audits.facts.models import ReadFailure
from spinneret.web.politeness.robots import Robots, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """A text file of the site: robots.txt, llms.txt."""

    status: int | None = None
    """Status code; None without a response."""
    redirects: int = 0
    size: int = 0
    """Size of the whole file in bytes."""
    content: str = ""
    """First 500 KiB of robots.txt, first 64 KiB of other files."""

    @property
    def is_there(self) -> bool:
        """Whether the file exists."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_unreachable(self) -> bool:
        """Whether there was no response, or a server error."""
        return self.status is None or self.status >= 500


class SitemapUrl(NamedTuple):
    """A `url` or `sitemap` element of a sitemap."""

    url: str
    """URL as listed."""
    lastmod: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapFacts:
    """One sitemap file."""

    url: str
    status: int | None = 200
    size: int = 0
    """Size in bytes, decompressed."""
    error: str = ""
    """Error in the file: `not_xml`, `not_a_sitemap`, `empty`."""
    is_index: bool = False
    count: int = 0
    """Number of URLs or sitemaps listed, including those beyond the bound."""
    entries: tuple[SitemapUrl, ...] = ()

    @property
    def is_there(self) -> bool:
        """The file was answered."""
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownAddress:
    """Answer of a host to an address that doesn't exist."""

    url: str
    status: int
    final_url: str
    fingerprint: str = ""
    """Fingerprint and signature of the text, as in TextFacts; empty unless it is a page."""
    signature: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Responses of the host apart from its pages; None means not requested."""

    http_final_url: str | None = None
    """Final URL of `http://host/`; empty without a response."""
    other_www_final_url: str | None = None
    """Final URL of the start page with `www.` added or removed; empty unless it answers well."""
    unknown_address: UnknownAddress | None = None
    """Answer to an address that doesn't exist; None if it wasn't requested or didn't answer."""
    certificate_ends_at: str | None = None
    """Expiry of the certificate in ISO 8601."""


class LinkOutcome(NamedTuple):
    """Response of a URL other than the audit's pages: an external link, an image, a PDF."""

    status: int | None = None
    """Status code of the last response; None without one."""
    failure: ReadFailure | None = None
    redirected_to: str = ""
    size: int | None = None
    """Size in bytes; None if unknown."""
    media_type: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether the URL is known to be unreadable.

        Status codes that only refuse robots, such as 401, 403, 429 and 999, don't count as broken.
        """
        if self.status is None:
            return self.failure in _SILENT
        return self.status >= 400 and self.status not in _REFUSALS

    @property
    def is_unknown(self) -> bool:
        """Whether the response only refuses robots, so that the URL may be readable."""
        if self.status is None:
            return self.failure not in _SILENT
        return self.status in _REFUSALS


_REFUSALS = frozenset({401, 403, 407, 429, 451, 999})
"""Status codes that many sites send to clients other than browsers, also for good pages."""

_SILENT = frozenset(
    {
        ReadFailure.TIMEOUT,
        ReadFailure.NETWORK,
        ReadFailure.REDIRECT_LOOP,
        ReadFailure.TOO_MANY_REDIRECTS,
    }
)
"""Failures of the site: after another one, its answer is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """Facts of the site, complete once its pages have been read."""

    start_url: str
    audited_at: str
    """Time in ISO 8601, UTC, from which ages are counted."""
    robots: FileFacts = FileFacts()
    sitemaps: tuple[SitemapFacts, ...] = ()
    host: HostFacts = HostFacts()
    llms_txt: FileFacts = FileFacts(status=404)
    outcomes: Mapping[str, LinkOutcome] = field(default_factory=dict)
    """Outcomes by URL; missing URLs weren't checked."""
    is_single: bool = False
    """Whether the audit requests only one page and robots.txt."""
    has_all_sitemaps: bool = True
    """Whether the audit read every sitemap that the site names."""
    is_whole: bool = False
    """Whether the crawl read every URL that it found, without reaching a limit."""

    @property
    def listed(self) -> Iterator[SitemapUrl]:
        """URLs of pages in the sitemaps, as listed."""
        return (entry for each in self.sitemaps if not each.is_index for entry in each.entries)

    @property
    def robots_rules(self) -> Robots:
        """Rules of robots.txt; none if the file is missing."""
        return parse(self.robots.content if self.robots.is_there else "")

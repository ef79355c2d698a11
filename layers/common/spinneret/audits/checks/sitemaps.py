"""Checks of the site's sitemaps and the pages that they list."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import UNKNOWN, Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import LISTABLE, host_of, moment
from spinneret.audits.checks.site import Site
from spinneret.web.fetching.urls import registrable_domain

_SITEMAPS: Final = CheckDecorators(Category.SITEMAPS)
_READ: Final = ("sitemap.missing", "sitemap.invalid")

MAX_URLS: Final = 50_000  # sitemaps.org
MAX_BYTES: Final = 50 * 1024 * 1024  # sitemaps.org, uncompressed
SAME_DATES_FROM: Final = 10
"""Minimum number of URLs with one common date: then it is the file's date, not the pages'."""
MAX_AHEAD: Final = timedelta(days=1)  # maximum lead of lastmod, since dates have no zone
MAX_DRIFT_DAYS: Final = 7
"""Maximum days between lastmod and the page's own date; squirrelscan fails from 30."""


@_SITEMAPS.site(
    "sitemap.missing",
    "There is no sitemap",
    Severity.HIGH,
    weight=10,
    advice="Publish a sitemap and name it in robots.txt.",
    source=sources.SITEMAPS_GOOGLE,
)
def missing(site: Site) -> Answer:
    """Report if no sitemap exists in robots.txt or the usual places."""
    there = any(sitemap.is_there for sitemap in site.facts.sitemaps)
    return [] if there else [Evidence("/sitemap.xml, robots.txt", "(none)", "a sitemap")]


@_SITEMAPS.site(
    "sitemap.invalid",
    "A sitemap can't be read",
    Severity.HIGH,
    weight=8,
    advice="Correct the file, or split it: 50,000 URLs and 50 MB are the most that it may hold.",
    source=sources.SITEMAPS,
    after=("sitemap.missing",),
)
def invalid(site: Site) -> Answer:
    """Report files that are invalid, empty, not available, or over the bounds."""
    found = []
    for sitemap in site.facts.sitemaps:
        if not sitemap.is_there:
            found.append(Evidence("sitemap", f"status {sitemap.status}", "200", sitemap.url))
        elif sitemap.error:
            found.append(Evidence("sitemap", sitemap.error, "", sitemap.url))
        if sitemap.count > MAX_URLS:
            found.append(Evidence("sitemap", f"{sitemap.count} URLs", "50,000", sitemap.url))
        if sitemap.size > MAX_BYTES:
            found.append(Evidence("sitemap", f"{sitemap.size} bytes", "50 MB", sitemap.url))
    return found


@_SITEMAPS.site(
    "sitemap.4xx",
    "The sitemap lists pages that fail",
    Severity.HIGH,
    advice="Take the addresses out, or restore the pages.",
    source=sources.SITEMAPS_GOOGLE,
    after=_READ,
)
def failing(site: Site) -> Answer:
    """Check only URLs of the site that were requested."""
    return [
        Evidence("sitemap loc", problem, "200", url)
        for url in _listed_urls(site)
        if not site.redirect_of(url) and (problem := site.failure_of(url))
    ]


@_SITEMAPS.site(
    "sitemap.noindex",
    "The sitemap lists pages that ask not to be indexed",
    Severity.MEDIUM,
    advice="Take the pages out of the sitemap, or the noindex off the pages.",
    source=sources.SITEMAPS_GOOGLE,
    after=_READ,
)
def noindex(site: Site) -> Answer:
    """Check only pages that were crawled."""
    return [Evidence("sitemap loc", "noindex", "", n.url) for n in _listed(site) if n.noindex]


@_SITEMAPS.site(
    "sitemap.blocked",
    "The sitemap lists pages that robots.txt disallows",
    Severity.MEDIUM,
    advice="Allow the pages, or take them out of the sitemap.",
    source=sources.SITEMAPS_GOOGLE,
    after=_READ,
)
def blocked(site: Site) -> Answer:
    """Report URLs that are disallowed for Googlebot."""
    return [
        Evidence("sitemap loc", "disallowed", "User-agent: Googlebot", url)
        for url in site.listed
        if site.is_disallowed(url)
    ]


@_SITEMAPS.site(
    "sitemap.noncanonical",
    "The sitemap lists pages whose canonical address is another",
    Severity.MEDIUM,
    advice="List canonical addresses only, which don't redirect.",
    source=sources.SITEMAPS_GOOGLE,
    after=_READ,
)
def noncanonical(site: Site) -> Answer:
    """Report URLs that redirect, and crawled pages with another canonical URL."""
    found = []
    for url in _listed_urls(site):
        node = site.node(url)
        target = site.redirect_of(url) or (node.canonical if node else None)
        if target and target not in (url, node.url if node else url):
            found.append(Evidence("sitemap loc", url, target, url))
    return found


@_SITEMAPS.site(
    "sitemap.foreign",
    "The sitemap lists another site",
    Severity.HIGH,
    weight=8,
    advice="List only pages of the site itself.",
    source=sources.SITEMAPS,
    after=_READ,
)
def foreign(site: Site) -> Answer:
    """Report URLs of another registrable domain, and invalid URLs."""
    own = registrable_domain(site.start.host)
    known: dict[str, bool] = {}
    found = []
    for url in site.listed:
        host = host_of(url)
        if host not in known:
            known[host] = bool(host) and registrable_domain(host) == own
        if not known[host]:
            found.append(Evidence("sitemap loc", url, own, url))
    return found


@_SITEMAPS.page_in_site(
    "sitemap.coverage",
    "The page isn't in the sitemap",
    Severity.MEDIUM,
    advice="List every page that is to be found.",
    source=sources.SITEMAPS_GOOGLE,
    after=(*_READ, *LISTABLE),
)
def coverage(page: PageNode, site: Site) -> Answer:
    """Check only pages that search engines may list under their own URL."""
    if not page.is_indexable:
        return None
    if page.url in site.listed_pages:
        return []
    return [Evidence("sitemap", "(not listed)")] if site.facts.has_all_sitemaps else UNKNOWN


@_SITEMAPS.site(
    "sitemap.lastmod",
    "The sitemap's dates say nothing",
    Severity.LOW,
    advice="Date each page by its last change, or leave lastmod out.",
    source=sources.SITEMAPS_GOOGLE,
    after=_READ,
)
def lastmod(site: Site) -> Answer:
    """Report identical, unreadable or future dates, and dates that differ from the pages' own."""
    dates = {url: date for url, date in site.listed.items() if date}
    if not dates:
        return None
    distinct = set(dates.values())
    found = []
    if len(dates) >= SAME_DATES_FROM and len(distinct) == 1:
        found.append(
            Evidence("sitemap lastmod", f"{len(dates)} times {distinct.pop()}", "of the page")
        )
    for url, date in dates.items():
        parsed = moment(date) if len(date) > len("2026-11") else site.now
        if parsed is None:
            found.append(Evidence("sitemap lastmod", date, "a W3C date", url))
        elif site.now and parsed > site.now + MAX_AHEAD:
            found.append(Evidence("sitemap lastmod", date, "a date that has passed", url))
    return [*found, *_drifted(site, dates)]


def _drifted(site: Site, dates: Mapping[str, str]) -> Iterator[Evidence]:
    for url, date in dates.items():
        node = site.node(url)
        listed, own = moment(date), moment(node.modified) if node and node.modified else None
        if listed is None or own is None:
            continue
        days = abs((listed.date() - own.date()).days)
        if days > MAX_DRIFT_DAYS:
            threshold = f"at most {MAX_DRIFT_DAYS} days from {own.date()}, the page's own date"
            yield Evidence("sitemap lastmod", f"{date}: {days} days off", threshold, url)


def _listed_urls(site: Site) -> Iterator[str]:
    """Yield the site's own URLs, each once even if a slash differs."""
    seen: set[str] = set()
    for url in site.listed:
        node = site.node(url)
        name = url if node is None else node.url
        if name not in seen and site.is_internal(url):
            seen.add(name)
            yield url


def _listed(site: Site) -> Iterator[PageNode]:
    nodes = (site.node(url) for url in _listed_urls(site))
    return (node for node in nodes if node is not None)

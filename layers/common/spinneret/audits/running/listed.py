"""Pages of the sitemaps that a crawl begins with."""

from collections.abc import Iterable, Iterator

from spinneret.audits import limits
from spinneret.audits.facts.site import SiteFacts
from spinneret.web.exploring.scope import CrawlScope
from spinneret.web.fetching.urls import parse_url, web_url


def listed_sample(site: SiteFacts, pages: int, scope: CrawlScope) -> tuple[str, ...]:
    """Return URLs of the site's sitemaps that the crawl begins with, in addition to the start page.

    Returns all URLs if they fit into the sample. Otherwise returns a quarter of the sample, spread
    over the whole list, as a sitemap's first hundred URLs are often of one kind. Links lead to the
    other pages.
    """
    start = parse_url(site.start_url)

    def own(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            url = web_url(text)
            if url is not None and url != start and scope.refusal(url) is None:
                yield url.text

    listed = [entry.url for entry in site.listed]
    most = pages - 1
    if len(listed) <= limits.SITEMAP_READ:
        urls = tuple(dict.fromkeys(own(listed)))
        if len(urls) <= most:
            return urls
        listed = list(urls)
    count = min(most, max(1, pages // limits.SITEMAP_SHARE))
    places = [number * len(listed) // count for number in range(count)]
    tries = limits.SITEMAP_READ // max(1, count)
    found = (next(own(listed[place : place + tries]), None) for place in places)
    return tuple(dict.fromkeys(url for url in found if url is not None))

"""The site as a set of pages, with their links, redirects and answers."""

import re
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from statistics import median
from typing import Final

from spinneret.audits.checks.pages import PageNode, SimilarPages
from spinneret.audits.checks.reading import first_text, is_noindex, moment
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind, ReadFailure
from spinneret.audits.facts.site import LinkOutcome, SiteFacts
from spinneret.web.fetching.urls import parse_url, web_url
from spinneret.web.politeness import robots

MAX_FRAGMENTS: Final = 500
"""Maximum number of fragment links that are checked per page."""
TITLES_FROM: Final = 5
"""Minimum number of titled pages for finding a site's pattern …"""
TITLES_SHARE: Final = 0.8
"""… and the minimum share of titles that follow it."""
PDF: Final = "application/pdf"
_PORT: Final = re.compile(r":\d+$")
_SEPARATOR: Final = re.compile(r"\s[|\-\u2013\u2014\u00b7\u2022\u00bb:]\s")


class Site:
    """All pages of an audit; `add` each, then `close` with the facts of the site."""

    def __init__(self, start_url: str) -> None:
        self.start = parse_url(start_url)
        self.facts = SiteFacts(start_url=start_url, audited_at="")
        host = _PORT.sub("", self.start.authority)
        self._hosts = {host, _other_www(host)}
        self._ids: dict[str, int] = {}
        self._urls: list[str] = []
        self._nodes: dict[int, PageNode] = {}
        self.has_all_links = True
        """Whether no page has links beyond the bound of its facts."""

    def add(self, page: PageFacts) -> PageNode:
        """Store the page data needed for comparisons; replace a page with the same URL."""
        node = self._node(page)
        self._nodes[self._id(page.url)] = node
        return node

    def close(self, facts: SiteFacts) -> None:
        """Store the facts of the site; afterwards the other members are usable."""
        self.facts = facts

    def _node(self, page: PageFacts) -> PageNode:
        html = page.html or HtmlFacts()
        self.has_all_links = self.has_all_links and html.has_all_links
        own = page.url
        canonicals = [each.url for each in html.canonicals if each.url]
        internal: dict[int, None] = {}
        external: dict[int, None] = {}
        fragments: dict[tuple[int, str], None] = {}
        for link in html.links:
            if link.url is None:
                continue
            if not self.is_internal(link.url):
                external[self._id(link.url)] = None
                continue
            if link.url != own:
                internal[self._id(link.url)] = None
            if link.fragment and len(fragments) < MAX_FRAGMENTS:
                fragments[self._id(link.url), link.fragment] = None
        return PageNode(
            url=own,
            kind=page.kind,
            status=page.status,
            failure=page.failure,
            final_url=page.final_url or own,
            hops=len(page.redirects),
            noindex=is_noindex(html),
            canonical=canonicals[0] if canonicals else page.header_canonical,
            title=first_text(html.titles),
            description=first_text(html.descriptions),
            h1=next((each.text for each in html.headings if each.level == 1), ""),
            fingerprint=html.text.fingerprint,
            signature=html.text.signature,
            words=html.text.words,
            pdf_bytes=page.size if page.size and page.media_type == PDF else None,
            alternates=html.alternates,
            modified=html.modified,
            structured=tuple(dict.fromkeys(t for each in html.structured for t in each.types)),
            links=array("I", internal),
            external=array("I", external),
            images=array("I", {self._id(each.url): None for each in html.images if each.url}),
            image_files=tuple((each.where, self._id(each.url)) for each in html.image_files),
            pagination=tuple(self._id(url) for url in html.pagination),
            fragments=tuple(fragments),
            anchors=frozenset(map(hash, html.anchors)),
        )

    def _id(self, url: str) -> int:
        known = self._ids.get(url)
        if known is None:
            known = self._ids[url] = len(self._urls)
            self._urls.append(url)
        return known

    def url_of(self, number: int) -> str:
        """Return the URL with a node's number."""
        return self._urls[number]

    def urls_of(self, numbers: Iterable[int]) -> Iterator[str]:
        """Yield the URLs with several numbers."""
        return (self._urls[number] for number in numbers)

    def is_internal(self, url: str) -> bool:
        """Return whether a URL is on the site's host, with or without `www.`."""
        authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
        return (_PORT.sub("", authority) if ":" in authority else authority) in self._hosts

    @property
    def nodes(self) -> Iterator[PageNode]:
        """All URLs that were read or failed to be read, in the order of `add`."""
        return iter(self._nodes.values())

    def node(self, url: str) -> PageNode | None:
        """Return the node of a URL, ignoring a trailing slash; None if unknown.

        The crawl's frontier trims the slash, but links may contain it.
        """
        number = self._ids.get(url)
        found = self._nodes.get(number) if number is not None else None
        if found is None:
            number = self._ids.get(url[:-1] if url.endswith("/") else f"{url}/")
            found = self._nodes.get(number) if number is not None else None
        return found

    def _path(self, url: str) -> list[str]:
        """Return a URL and the known targets of its redirects, in their order."""
        path = [url]
        while (node := self.node(path[-1])) is not None and node.kind is PageKind.REDIRECT:
            if node.final_url in path:
                return [*path, node.final_url]
            path.append(node.final_url)
        return path

    def settled(self, url: str) -> PageNode | None:
        """Return the node of a URL after its redirects."""
        return self.node(self._path(url)[-1])

    def hops(self, url: str) -> int:
        """Return the number of redirects from a URL to its last known target."""
        nodes = map(self.node, self._path(url)[:-1])
        return sum(node.hops for node in nodes if node is not None)

    def outcome(self, url: str) -> LinkOutcome | None:
        """Return the outcome of a URL and its redirects, page or not; None if it is unknown.

        A redirect to a page that was known was not followed: its target's answer is the answer.
        """
        checked = self.facts.outcomes.get(url)
        if checked is not None:
            return checked
        path = self._path(url)
        moved = path[-1] if len(path) > 1 else ""
        found = self.node(path[-1])
        if found is None:
            beyond = self.facts.outcomes.get(path[-1])
            return None if beyond is None else beyond._replace(redirected_to=moved)
        if found.kind is PageKind.REDIRECT:
            if self.node(found.final_url) is found:
                return None  # only a slash differs, and the target wasn't read
            return LinkOutcome(failure=ReadFailure.REDIRECT_LOOP, redirected_to=moved)
        if found.failure is ReadFailure.ROBOTS:
            return None
        return LinkOutcome(found.status, found.failure, moved)

    def pdf_bytes(self, url: str) -> int | None:
        """Return the size of a URL's PDF; None for other or unknown responses."""
        checked = self.facts.outcomes.get(url)
        if checked is not None:
            return checked.size if checked.media_type == PDF else None
        found = self.settled(url)
        return None if found is None else found.pdf_bytes

    def redirect_of(self, url: str) -> str:
        """Return where a URL is known to redirect; empty if it isn't."""
        checked = self.facts.outcomes.get(url)
        if checked is not None:
            return checked.redirected_to
        found = self.node(url)
        return found.final_url if found is not None and found.kind is PageKind.REDIRECT else ""

    def failure_of(self, url: str) -> str:
        """Return how a URL is known to fail; empty if it isn't.

        Status codes that only refuse robots count as failures of the site's own URLs.
        """
        found = self.outcome(url)
        if found is None:
            return ""
        fails = found.is_broken or (self.is_internal(url) and (found.status or 0) >= 400)
        return str(found.status or found.failure) if fails else ""

    def images_of(self, page: PageNode) -> Iterator[tuple[str, str]]:
        """Yield place and URL of all images of a page, each URL once."""
        files = {self._urls[number]: where for where, number in page.image_files}
        own = {self._urls[number]: "img[src]" for number in page.images}
        return ((where, url) for url, where in (files | own).items())

    @cached_property
    def unasked(self) -> frozenset[str]:
        """URLs that pages or sitemaps name and whose answers are unknown."""
        named: set[str] = {*self._urls, *self.listed}
        for node in self.pages:
            named.update(each.url for each in node.alternates if each.url)
            if node.canonical:
                named.add(node.canonical)
        outcomes = ((url, self.outcome(url)) for url in named)
        return frozenset(url for url, found in outcomes if found is None or found.is_unknown)

    @cached_property
    def pages(self) -> tuple[PageNode, ...]:
        """Pages that could be read."""
        return tuple(node for node in self.nodes if node.kind is PageKind.HTML)

    @cached_property
    def start_node(self) -> PageNode | None:
        """The start page after its redirects."""
        return self.settled(self.facts.start_url)

    @cached_property
    def now(self) -> datetime | None:
        """Time of the audit."""
        return moment(self.facts.audited_at)

    @cached_property
    def linked(self) -> Counter[str]:
        """Number of pages that link to each page or to a redirect to it."""
        counts: Counter[str] = Counter()
        for node in self.pages:
            targets = (self.settled(url) for url in self.urls_of(node.links))
            counts.update({target.url for target in targets if target is not None} - {node.url})
        return counts

    @cached_property
    def clicks(self) -> dict[str, int]:
        """Distance in links from the start page to every page reachable from it."""
        if self.start_node is None:
            return {}
        depths = {self.start_node.url: 0}
        pending = deque([self.start_node])
        while pending:
            node = pending.popleft()
            for url in self.urls_of(node.links):
                target = self.settled(url)
                if target is not None and target.url not in depths:
                    depths[target.url] = depths[node.url] + 1
                    pending.append(target)
        return depths

    @cached_property
    def similar(self) -> SimilarPages:
        """Pages that search engines may list, by what they have in common."""
        return SimilarPages(node for node in self.pages if node.is_indexable)

    @cached_property
    def usual_words(self) -> float:
        """Median number of words of the pages."""
        return median([node.words for node in self.pages] or [0])

    @cached_property
    def title_part(self) -> str | None:
        """Common prefix or suffix of most titles, set off by a separator: the site's name."""
        titles = [node.title for node in self.pages if node.title]
        if len(titles) < TITLES_FROM:
            return None
        for index in (-1, 0):
            ends = Counter(parts[index] for t in titles if len(parts := _SEPARATOR.split(t)) > 1)
            for part, count in ends.most_common(1):
                if count >= TITLES_SHARE * len(titles):
                    return part
        return None

    @cached_property
    def robots(self) -> robots.Robots:
        """Rules of the site's robots.txt; no rules if the file is missing."""
        return self.facts.robots_rules

    def is_disallowed(self, url: str) -> bool:
        """Return whether the site's robots.txt disallows a URL of its host for Googlebot."""
        return self.is_internal(url) and not self.robots.allows(url, "Googlebot")

    @cached_property
    def listed(self) -> dict[str, str]:
        """Dates by URL for all sitemaps; URLs are normalized like links."""
        found: dict[str, str] = {}
        for entry in self.facts.listed:
            url = web_url(entry.url)
            found[url.text if url else entry.url] = entry.lastmod
        return found

    @cached_property
    def listed_pages(self) -> frozenset[str]:
        """URLs of pages that are in a sitemap."""
        nodes = (self.node(url) for url in self.listed)
        return frozenset(node.url for node in nodes if node is not None)


def _other_www(host: str) -> str:
    return host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"

"""Two sites made by code: a good one, and its broken twin, whose pages break known rules.

A page is assembled from parts. A broken page names the parts that differ, and the checks that must
find an issue on it. The audit must find exactly the issues of `broken.expected`.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from zlib import crc32

from spinneret.audits.facts.models import PageFacts, ReadFailure
from spinneret.audits.facts.pages import read_page, unread_page
from spinneret.audits.facts.site import FileFacts, HostFacts, LinkOutcome, SiteFacts, UnknownAddress
from spinneret.audits.facts.sitemaps import read_sitemap
from spinneret.web.fetching.models import FetchedPage, Phases
from spinneret.web.fetching.urls import parse_url

HOST = "https://shop.example"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAMES = ("oak", "pine", "birch", "maple", "cedar", "alder")
GOOD = ("/", *(f"/{name}" for name in NAMES))
GOOD_ROBOTS = f"User-agent: *\nAllow: /\n\nSitemap: {HOST}/sitemap.xml\n"
GOOD_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-encoding": "gzip",
    "etag": '"1"',
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "content-security-policy": "default-src 'self'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
}
_VOCABULARY = tuple(
    a + b + c
    for a in ("ba", "de", "fi", "go", "lu", "me", "ni", "ro", "sa", "tu")
    for b in ("l", "n", "r", "s", "t")
    for c in ("a", "en", "is", "om", "ur", "el")
)


@cache
def words(count: int, seed: int) -> str:
    """Return random text in which no word is more frequent than others."""
    rest = random.Random(seed)
    return " ".join(rest.choice(_VOCABULARY) for _ in range(count))


@dataclass(frozen=True, kw_only=True)
class Page:
    """The parts of one page; None omits a part."""

    path: str
    doctype: str = "<!doctype html>"
    lang: str | None = "en"
    charset: str | None = "utf-8"
    viewport: str | None = "width=device-width, initial-scale=1"
    title: str | None = ""
    """Title; an empty one stands for the page's default."""
    description: str | None = ""
    canonical: str | None = ""
    h1: str | None = ""
    words: int = 260
    seed: int | None = None
    social: Mapping[str, str] | None = field(default_factory=dict)
    """Properties that differ from the complete set."""
    head: str = ""
    body: str = ""
    links: tuple[str, ...] = GOOD
    status: int = 200
    headers: Mapping[str, str | None] = field(default_factory=dict)
    redirect: tuple[str, ...] = ()
    """Paths that redirect to the page; the first one adds the facts of a redirect."""
    failure: ReadFailure | None = None
    first_byte_ms: int = 90
    host: str = HOST
    raw: bytes | None = None

    @property
    def url(self) -> str:
        """Return the URL of the page."""
        return self.host + self.path

    def html(self) -> str:
        """Return the document."""
        seed = crc32(self.path.encode()) if self.seed is None else self.seed
        name = f"{self.path.strip('/')[:24].capitalize() or 'Start'} {words(2, seed)[:12]}"
        title = f"{name} and its wood | Timber" if self.title == "" else self.title
        about = f"All about {name}: how it grows, what it is used for, {words(6, seed)}."
        canonical = self.url if self.canonical == "" else self.canonical
        social = {
            "og:title": name,
            "og:type": "website",
            "og:image": f"{self.host}/preview.png",
            "og:image:width": "1200",
            "og:image:height": "630",
            "og:url": canonical or self.url,
            "og:description": about,
            "twitter:card": "summary",
            **(self.social or {}),
        }
        head = [
            f'<meta charset="{self.charset}">' if self.charset else "",
            f"<title>{title}</title>" if title is not None else "",
            f'<meta name="viewport" content="{self.viewport}">' if self.viewport else "",
            _meta("description", about if self.description == "" else self.description),
            f'<link rel="canonical" href="{canonical}">' if canonical is not None else "",
            *(
                f'<meta property="{key}" content="{value}">'
                for key, value in social.items()
                if self.social is not None and value
            ),
            self.head,
        ]
        heading = f"About {name}" if self.h1 == "" else self.h1
        body = [
            f"<h1>{heading}</h1>" if heading is not None else "",
            f"<p>{words(self.words, seed)}</p>",
            *(f'<p><a href="{link}">To {link} and its wood</a></p>' for link in self.links),
            self.body,
        ]
        lang = f' lang="{self.lang}"' if self.lang is not None else ""
        return (
            f"{self.doctype}<html{lang}><head>{''.join(head)}</head>"
            f"<body>{''.join(body)}</body></html>"
        )

    def facts(self) -> Iterator[PageFacts]:
        """Yield the facts that a crawl finds."""
        if self.failure or self.status >= 400:
            yield unread_page(
                self.url,
                NOW,
                self.failure,
                status=None if self.failure else self.status,
                redirects=tuple(self.host + path for path in self.redirect),
            )
            return
        yield from read_page(self.answer(), NOW)

    def answer(self) -> FetchedPage:
        """Return the response of the site."""
        headers = {**GOOD_HEADERS, **self.headers}
        kept = {name: value for name, value in headers.items() if value is not None}
        media_type, _, charset = kept.get("content-type", "").partition("; charset=")
        return FetchedPage(
            requested=parse_url(self.host + self.redirect[0] if self.redirect else self.url),
            url=parse_url(self.url),
            status_code=self.status,
            headers=kept,
            media_type=media_type,
            charset=charset or None,
            body=self.raw if self.raw is not None else self.html().encode(),
            redirects=tuple(self.host + path for path in self.redirect),
            duration_ms=120,
            phases=Phases(
                dns_ms=1,
                connect_ms=1,
                tls_ms=1,
                first_byte_ms=self.first_byte_ms,
                transfer_ms=1,
            ),
        )


def _meta(name: str, content: str | None) -> str:
    return f'<meta name="{name}" content="{content}">' if content is not None else ""


def json_ld(**properties: object) -> str:
    """Return a script element with structured data."""
    return f'<script type="application/ld+json">{json.dumps(properties)}</script>'


def alternates(**languages: str) -> str:
    """Return links to the page in other languages; an underscore stands for a hyphen."""
    return "".join(
        f'<link rel="alternate" hreflang="{language.replace("_", "-")}" href="{href}">'
        for language, href in languages.items()
    )


def sitemap(paths: Mapping[str, str]) -> bytes:
    """Return a sitemap of URLs with their dates; an empty date is omitted."""
    rows = "".join(
        f"<url><loc>{url}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for url, date in paths.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    ).encode()


IMAGE = '<img src="/oak.jpg" alt="An oak in summer" width="400" height="300">'
GOOD_PAGES = (
    Page(
        path="/",
        head=json_ld(**{"@context": "https://schema.org", "@type": "WebSite", "name": "Timber"}),
        body=IMAGE + '<a href="https://other.example/">A friend of trees</a>',
    ),
    *(
        Page(
            path=f"/{name}",
            head=json_ld(**{"@type": "Article", "headline": name})
            + alternates(en=f"{HOST}/{name}", de=f"{HOST}/{name}-de", x_default=f"{HOST}/{name}"),
            body=f'{IMAGE}<h2 id="use">Use</h2><a href="#use">How {name} is used</a>'
            f'<a href="/{name}-de">The same in German</a>',
        )
        for name in NAMES[:2]
    ),
    *(
        Page(
            path=f"/{name}-de",
            lang="de",
            head=alternates(
                en=f"{HOST}/{name}", de=f"{HOST}/{name}-de", x_default=f"{HOST}/{name}"
            ),
        )
        for name in NAMES[:2]
    ),
    *(Page(path=f"/{name}", body='<a href="/oak#use">How oak is used</a>') for name in NAMES[2:]),
)
GOOD_OUTCOMES = {
    f"{HOST}/oak.jpg": LinkOutcome(200, size=80_000, media_type="image/jpeg"),
    f"{HOST}/preview.png": LinkOutcome(200, size=90_000, media_type="image/png"),
    "https://other.example/": LinkOutcome(200),
}


def good_site_facts(pages: tuple[Page, ...] = GOOD_PAGES) -> SiteFacts:
    """Return the facts of the good site."""
    dates = {
        page.url: (NOW - timedelta(days=number)).date().isoformat()
        for number, page in enumerate(pages)
    }
    return SiteFacts(
        start_url=f"{HOST}/",
        audited_at=NOW.isoformat(),
        robots=FileFacts(status=200, size=len(GOOD_ROBOTS), content=GOOD_ROBOTS),
        sitemaps=(read_sitemap(f"{HOST}/sitemap.xml", sitemap(dates)),),
        host=HostFacts(
            http_final_url=f"{HOST}/",
            other_www_final_url=f"{HOST}/",
            certificate_ends_at=(NOW + timedelta(days=60)).isoformat(),
            unknown_address=UnknownAddress(
                url=f"{HOST}/unknown", status=404, final_url=f"{HOST}/unknown"
            ),
        ),
        llms_txt=FileFacts(status=200, size=20, content="# Timber\n\n> Trees"),
        outcomes=GOOD_OUTCOMES,
        is_whole=True,
    )

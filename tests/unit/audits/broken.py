"""The broken site: the pages of the good site, and pages that each break the listed checks."""

import functools
from dataclasses import dataclass, replace

from spinneret.audits.facts.models import PageFacts, PageKind, ReadFailure
from spinneret.audits.facts.site import FileFacts, HostFacts, LinkOutcome, SiteFacts, UnknownAddress
from spinneret.audits.facts.sitemaps import read_sitemap
from tests.unit.audits.site import (
    GOOD,
    GOOD_OUTCOMES,
    GOOD_PAGES,
    HOST,
    NOW,
    Page,
    alternates,
    good_site_facts,
    json_ld,
    sitemap,
    words,
)

ROBOTS = f"""\
Disallow: /too-early
User-agent: *
Disallow: /private
Frobnicate: yes

User-agent: Googlebot
Disallow: /private
Disallow: /hidden-noindex
Disallow: /not-for-google

User-agent: GPTBot
Disallow: /

Sitemap: {HOST}/sitemap.xml
"""
LONG_ALT = "An oak " * 20
PICTURE = '<img src="/{}" alt="A tree" width="4" height="3">'


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A page, and the checks that find an issue on it."""

    page: Page
    checks: frozenset[str]
    listed: bool = True
    """Whether the sitemap lists the page."""
    linked: bool = True
    """Whether the start page leads to the page."""


def _broken(
    path: str, checks: str, *, listed: bool = True, linked: bool = True, **parts: object
) -> Broken:
    page = replace(Page(path=path), **parts)  # type: ignore[arg-type] # names of Page's fields
    return Broken(page=page, checks=frozenset(checks.split()), listed=listed, linked=linked)


def _links(*targets: str) -> str:
    return "".join(f'<a href="{target}">A page about trees</a>' for target in targets)


PAGES = (
    _broken("/gone", "http.4xx", status=404, linked=False),
    _broken("/crash", "http.5xx", status=503, linked=False, listed=False),
    _broken("/silent", "http.timeout", failure=ReadFailure.TIMEOUT, linked=False, listed=False),
    _broken("/blank", "http.empty", failure=ReadFailure.EMPTY, linked=False, listed=False),
    _broken(
        "/circle",
        "http.redirect_loop",
        failure=ReadFailure.REDIRECT_LOOP,
        redirect=("/circle", "/back", "/circle"),
        linked=False,
        listed=False,
    ),
    _broken("/moved-target", "", redirect=("/moved",)),
    _broken("/far-target", "", redirect=("/far-1", "/far-2", "/far-3")),
    _broken("/to-moved", "http.redirect", links=(*GOOD, "/moved")),
    _broken("/to-far", "http.redirect http.redirect_chain", links=(*GOOD, "/far-1")),
    _broken("/two-hops-target", "", redirect=("/two-1", "/two-2")),
    _broken("/to-two", "http.redirect http.redirect_chain", links=(*GOOD, "/two-1")),
    _broken(
        "/refresh",
        "http.meta_refresh",
        head='<meta http-equiv="refresh" content="0; URL=/oak">',
    ),
    _broken("/not-found", "http.soft_404", h1="Page not found", title="Page not found | Timber"),
    _broken("/slow", "http.ttfb", first_byte_ms=801),
    _broken("/huge", "http.html_size", body=f"<script>{'x' * 1_048_577}</script>"),
    _broken("/pdf", "http.pdf_size", body=_links("/big.pdf", "/small.pdf")),
    _broken("/plain", "http.compression", headers={"content-encoding": None}),
    _broken("/stale", "http.cache", headers={"etag": None, "cache-control": "max-age=60"}),
    _broken("/table.pdf", "http.mime"),
    _broken("/noindex", "index.noindex", head='<meta name="robots" content="NoIndex, follow">'),
    _broken(
        "/noindex-header",
        "index.noindex",
        headers={"x-robots-tag": "bingbot: none, otherbot: nofollow"},
        listed=False,
    ),
    _broken(
        "/over",
        "index.unavailable_after",
        headers={"x-robots-tag": "unavailable_after: Sat, 25 Jun 2022 15:00:00 GMT"},
    ),
    _broken("/private", "index.blocked", failure=ReadFailure.ROBOTS, linked=False),
    _broken("/not-for-google", "index.blocked", listed=False),
    _broken(
        "/hidden-noindex",
        "index.noindex index.conflict",
        head='<meta name="googlebot" content="noindex">',
        listed=False,
    ),
    _broken("/bare", "index.nosnippet", head='<meta name="robots" content="max-snippet:0">'),
    _broken("/pictures", "index.noimageindex", headers={"x-robots-tag": "noimageindex"}),
    _broken("/unlisted", "sitemap.coverage", listed=False),
    _broken("/no-canonical", "canonical.missing", canonical=None),
    _broken(
        "/two-canonicals",
        "canonical.conflict",
        head=f'<link rel="canonical" href="{HOST}/other">',
    ),
    _broken(
        "/relative",
        "canonical.relative",
        canonical="/relative",
        social={"og:url": f"{HOST}/relative"},
    ),
    _broken(
        "/invalid",
        "canonical.invalid",
        canonical="mailto:a@b",
        social={"og:url": f"{HOST}/invalid"},
    ),
    _broken(
        "/c-fragment",
        "canonical.fragment",
        canonical=f"{HOST}/c-fragment#main",
        social={"og:url": f"{HOST}/c-fragment"},
    ),
    _broken(
        "/c-body",
        "canonical.missing meta.in_body",
        canonical=None,
        body=f'<link rel="canonical" href="{HOST}/c-body">',
    ),
    _broken("/to-root", "canonical.root", canonical=f"{HOST}/", listed=False),
    _broken(
        "/english",
        "canonical.hreflang",
        canonical=f"{HOST}/deutsch",
        head=alternates(en=f"{HOST}/english", de=f"{HOST}/deutsch", x_default=f"{HOST}/english"),
        links=(*GOOD, "/deutsch"),
        listed=False,
    ),
    _broken(
        "/deutsch",
        "",
        lang="de",
        head=alternates(en=f"{HOST}/english", de=f"{HOST}/deutsch", x_default=f"{HOST}/english"),
    ),
    _broken("/header", "canonical.header", headers={"link": f'<{HOST}/oak>; rel="canonical"'}),
    _broken("/c-moved", "canonical.to_redirect", canonical=f"{HOST}/moved", listed=False),
    _broken("/c-gone", "canonical.to_error", canonical=f"{HOST}/gone", listed=False),
    _broken("/c-noindex", "canonical.to_noindex", canonical=f"{HOST}/noindex", listed=False),
    _broken("/c-chain", "canonical.to_noncanonical", canonical=f"{HOST}/c-end", listed=False),
    _broken("/c-end", "", canonical=f"{HOST}/oak"),
    _broken("/untitled", "title.missing", title=None),
    _broken("/short-title", "title.short", title="Wood | Timber"),
    _broken("/long-title", "title.long", title=f"{'Wood and trees ' * 4}| Timber"),
    _broken(
        "/two-titles", "title.multiple", body="<title>Another title of this page | Timber</title>"
    ),
    _broken("/twin-a", "title.duplicate", title="The same wood everywhere | Timber"),
    _broken("/twin-b", "title.duplicate", title="The same wood everywhere | Timber"),
    _broken("/other-title", "title.outlier", title="A title that goes its own way"),
    _broken("/undescribed", "desc.missing", description=None),
    _broken("/short-desc", "desc.short", description="Wood."),
    _broken("/long-desc", "desc.long", description="Wood and trees. " * 11),
    _broken(
        "/two-descs",
        "desc.multiple",
        head=f'<meta name="description" content="{words(14, 3)}">',
    ),
    _broken("/echo-a", "desc.duplicate", description=f"The same about wood: {words(12, 4)}."),
    _broken("/echo-b", "desc.duplicate", description=f"The same about wood: {words(12, 4)}."),
    _broken("/no-h1", "h1.missing", h1=None),
    _broken("/two-h1", "h1.multiple", body="<h1>Another heading</h1>"),
    _broken("/skip", "headings.order", body="<h2>Use</h2><h4>Details</h4>"),
    _broken("/no-lang", "lang.missing", lang=None),
    _broken("/odd-lang", "lang.invalid", lang="en-UK"),
    _broken("/no-charset", "charset", charset=None, headers={"content-type": "text/html"}),
    _broken("/quirks", "doctype", doctype=""),
    _broken("/desktop", "viewport.missing", viewport=None),
    _broken("/fixed", "viewport.zoom", viewport="width=device-width, user-scalable=no"),
    _broken("/body-meta", "meta.in_body", body='<meta name="robots" content="index">'),
    _broken("/thin", "content.thin", words=100),
    _broken(
        "/same-a",
        "content.duplicate",
        seed=9,
        title="One wood of many | Timber",
        description=words(14, 5),
        h1="Wood",
    ),
    _broken(
        "/same-b",
        "content.duplicate",
        seed=9,
        title="Another of many | Timber",
        description=words(14, 6),
        h1="Wood",
    ),
    _broken(
        "/near-a", "content.near_duplicate", seed=11, title="One of a pair | Timber", words=400
    ),
    _broken(
        "/near-b",
        "content.near_duplicate",
        seed=11,
        title="The other of a pair | Timber",
        description=words(14, 8),
        words=400,
        body="<p>But for this</p>",
    ),
    _broken("/filler", "content.placeholder", body="<p>Lorem ipsum dolor sit amet.</p>"),
    _broken("/stuffed", "content.stuffing", body=f"<p>{'timber ' * 40}</p>"),
    _broken(
        "/out-of-sight",
        "content.hidden",
        body=f'<div style="text-indent:-9999px">{words(20, 7)}</div>',
    ),
    _broken("/broken-text", "content.mojibake", body="<p>It\N{REPLACEMENT CHARACTER}s</p>"),
    _broken("/ids", "html.duplicate_id", body='<i id="a">a</i><i id="a">b</i>'),
    _broken("/dom", "html.dom_size", body="<i></i>" * 1501),
    _broken(
        "/odd-hreflang",
        "hreflang.invalid",
        head=alternates(
            en=f"{HOST}/odd-hreflang", en_UK=f"{HOST}/odd-uk", x_default=f"{HOST}/odd-hreflang"
        ),
    ),
    _broken(
        "/eng",
        "hreflang.invalid",
        head=alternates(en=f"{HOST}/eng", eng=f"{HOST}/eng", x_default=f"{HOST}/eng"),
    ),
    _broken(
        "/two-german",
        "hreflang.duplicate",
        head=alternates(en=f"{HOST}/two-german", x_default=f"{HOST}/two-german")
        + alternates(de=f"{HOST}/german-1")
        + alternates(DE=f"{HOST}/german-2"),
    ),
    _broken(
        "/rel-hreflang",
        "hreflang.relative",
        head=alternates(en="/rel-hreflang", x_default=f"{HOST}/rel-hreflang"),
    ),
    _broken(
        "/no-return",
        "hreflang.no_return",
        head=alternates(en=f"{HOST}/no-return", de=f"{HOST}/pine", x_default=f"{HOST}/no-return"),
    ),
    _broken(
        "/no-self",
        "hreflang.no_self",
        head=alternates(de=f"{HOST}/not-visited", x_default=f"{HOST}/not-visited"),
    ),
    _broken(
        "/no-default",
        "hreflang.no_xdefault",
        head=alternates(en=f"{HOST}/no-default", de=f"{HOST}/not-visited"),
    ),
    _broken(
        "/bad-target",
        "hreflang.bad_target",
        head=alternates(en=f"{HOST}/bad-target", de=f"{HOST}/gone", x_default=f"{HOST}/bad-target"),
    ),
    _broken(
        "/mismatch",
        "hreflang.lang_mismatch",
        lang="fr",
        head=alternates(en=f"{HOST}/mismatch", x_default=f"{HOST}/mismatch"),
    ),
    _broken(
        "/to-gone", "links.broken_internal", links=(*GOOD, "/gone", "/crash", "/silent", "/circle")
    ),
    _broken("/to-dead", "links.broken_external", body=_links("https://dead.example/")),
    _broken("/to-old", "links.external_redirect", body=_links("https://old.example/")),
    _broken("/nowhere", "links.fragment", body=_links("/oak#nowhere", "/oak#use", "/oak#top")),
    _broken("/orphan", "links.orphan", linked=False),
    _broken("/end", "links.dead_end", links=()),
    _broken("/deep-1", "", links=(*GOOD, "/deep-2")),
    _broken("/deep-2", "", links=(*GOOD, "/deep-3"), linked=False),
    _broken("/deep-3", "", links=(*GOOD, "/deep-4"), linked=False),
    _broken("/deep-4", "", links=(*GOOD, "/deep-5"), linked=False),
    _broken("/deep-5", "links.depth", linked=False),
    _broken("/many", "links.too_many", body=_links(*(f"/oak?{n}" for n in range(101)))),
    _broken("/nofollow", "links.nofollow", body='<a href="/oak" rel="nofollow">Oaks</a>'),
    _broken("/script", "links.uncrawlable", body='<a href="javascript:go()">Oaks</a>'),
    _broken("/vague", "links.text", body='<a href="/oak">Click here</a>'),
    _broken("/no-text", "links.empty", body='<a href="/oak"><i class="icon"></i></a>'),
    _broken("/down", "links.downgrade", body=_links("http://plain.example/")),
    _broken("/local", "links.localhost", body=_links("http://127.0.0.1:8000/")),
    _broken("/paged", "links.pagination", head='<link rel="next" href="/paged-2">'),
    _broken("/no-alt", "img.alt", body='<img src="/oak.jpg" width="4" height="3">'),
    _broken(
        "/long-alt",
        "img.alt_long",
        body=f'<img src="/oak.jpg" alt="{LONG_ALT}" width="4" height="3">',
    ),
    _broken("/heavy", "img.size", body=PICTURE.format("heavy.jpg")),
    _broken("/lost-image", "img.broken", body=PICTURE.format("lost.jpg")),
    _broken(
        "/lost-candidate",
        "img.broken",
        body='<img src="/oak.jpg" srcset="/a.jpg 1x, /lost.jpg 2x" alt="" width="4" height="3">',
    ),
    _broken("/lost-preview", "img.broken", social={"og:image": "/lost.jpg"}),
    _broken("/c-lost", "canonical.to_error", canonical=f"{HOST}/asked-404", listed=False),
    _broken("/c-old", "canonical.to_redirect", canonical=f"{HOST}/asked-301", listed=False),
    _broken(
        "/h-lost",
        "hreflang.bad_target",
        head=alternates(en=f"{HOST}/h-lost", de=f"{HOST}/asked-404", x_default=f"{HOST}/h-lost"),
    ),
    _broken("/to-crawled-redirect", "http.redirect", links=(*GOOD, "/between")),
    _broken("/html-image", "img.broken", body=PICTURE.format("page.jpg")),
    _broken(
        "/button",
        "img.alt",
        body='<input type="image" src="/oak.jpg" width="4" height="3">',
    ),
    _broken("/jumping", "img.dimensions", body='<img src="/oak.jpg" alt="An oak">'),
    _broken("/no-img", "img.picture", body='<picture><source srcset="/oak.webp"></picture>'),
    _broken(
        "/bad-json",
        "schema.jsonld",
        head='<script type="application/ld+json">{"@type": "Article",}</script>',
    ),
    _broken("/product", "schema.required", head=json_ld(**{"@type": "Product", "name": "Oak"})),
    _broken(
        "/unpriced",
        "schema.required",
        head=json_ld(
            **{"@type": "Product", "name": "Oak", "offers": {"@type": "Offer", "url": "/"}}
        ),
    ),
    _broken(
        "/rich-noindex",
        "schema.noindexed index.noindex",
        head='<meta name="robots" content="noindex">'
        + json_ld(**{"@type": "Recipe", "name": "Oak", "image": "/oak.jpg"}),
        listed=False,
    ),
    _broken("/no-preview", "social.og", social=None),
    _broken("/no-hsts", "sec.hsts", headers={"strict-transport-security": "max-age=300"}),
    _broken(
        "/no-csp",
        "sec.csp",
        headers={"content-security-policy": "script-src 'unsafe-inline'; frame-ancestors 'self'"},
    ),
    _broken("/sniff", "sec.nosniff", headers={"x-content-type-options": None}),
    _broken("/framed", "sec.framing", headers={"content-security-policy": "default-src 'self'"}),
    _broken("/form", "sec.form", body='<form action="http://shop.example/buy"></form>'),
    _broken(
        "/cookie",
        "sec.cookies",
        headers={
            "set-cookie": "a=1; Expires=Wed, 21 Oct 2030 07:28:00 GMT; Secure; HttpOnly; "
            "SameSite=Lax, b=2; Secure"
        },
    ),
    _broken(
        "/opener",
        "sec.noopener",
        body='<a href="https://other.example/" target="_blank">Friends</a>',
    ),
    _broken("/mixed", "sec.mixed", body='<script src="http://cdn.example/a.js"></script>'),
    _broken(
        "/mixed-set",
        "sec.mixed",
        body=PICTURE.format("oak.jpg").replace(
            "<img", '<img srcset="http://cdn.example/oak-2.jpg 2x"'
        ),
    ),
    _broken(
        "/mixed-style", "sec.mixed", head="<style>b{background:url(http://cdn.example/b)}</style>"
    ),
    _broken("/session", "url.session", body=_links("/oak?PHPSESSID=9f8e7d6c5b4a39281706")),
    _broken("/Under_Score", "url.form"),
    _broken(
        "/insecure",
        "sec.https links.orphan",
        host="http://shop.example",
        listed=False,
        linked=False,
        canonical=f"{HOST}/oak",
        social={"og:url": f"{HOST}/oak"},
    ),
)

OF_SITE = frozenset(
    {
        *("robots.syntax", "robots.ai_crawlers", "sitemap.4xx", "sitemap.noindex"),
        *("sitemap.blocked", "sitemap.noncanonical", "sitemap.foreign", "sitemap.lastmod"),
        *(
            "canonical.drift",
            "http.unknown_address",
            "sec.http_redirect",
            "sec.certificate",
            "agents.llms_txt",
        ),
    }
)
"""Issues of the site itself; checks that block other checks have their own tests."""

OUTCOMES = {
    **GOOD_OUTCOMES,
    f"{HOST}/heavy.jpg": LinkOutcome(200, size=500_001, media_type="image/jpeg"),
    f"{HOST}/lost.jpg": LinkOutcome(404),
    f"{HOST}/page.jpg": LinkOutcome(200, media_type="text/html"),
    f"{HOST}/asked-404": LinkOutcome(404),
    f"{HOST}/asked-301": LinkOutcome(200, redirected_to=f"{HOST}/oak"),
    f"{HOST}/big.pdf": LinkOutcome(200, size=31_457_281, media_type="application/pdf"),
    f"{HOST}/small.pdf": LinkOutcome(200, size=31_457_280, media_type="application/pdf"),
    "https://dead.example/": LinkOutcome(None, ReadFailure.TIMEOUT),
    "https://old.example/": LinkOutcome(200, redirected_to="https://new.example/"),
}


def pages() -> tuple[Page, ...]:
    """Return the good pages, overviews of the broken pages, and the broken pages."""
    start, *rest = GOOD_PAGES
    linked = tuple(broken.page.path for broken in PAGES if broken.linked)
    # More than 100 links on the start page would be an issue, so overviews link to the pages.
    parts = [linked[n : n + 60] for n in range(0, len(linked), 60)]
    overviews = [Page(path=f"/overview-{n}", links=(*GOOD, *part)) for n, part in enumerate(parts)]
    overview_paths = tuple(page.path for page in overviews)
    deep = "/deep-1"
    return (
        replace(start, links=(*GOOD, *overview_paths, deep)),
        *rest,
        *overviews,
        *(broken.page for broken in PAGES),
    )


@functools.cache
def facts() -> tuple[PageFacts, ...]:
    """Return the facts of all pages."""
    between = PageFacts(  # its target is known, so the crawl didn't follow it
        url=f"{HOST}/between",
        kind=PageKind.REDIRECT,
        fetched_at=NOW.isoformat(),
        final_url=f"{HOST}/oak",
        redirects=(f"{HOST}/between",),
    )
    return (*(each for page in pages() for each in page.facts()), between)


def site_facts() -> SiteFacts:
    """Return robots, sitemap and host of the broken site."""
    unlisted = {broken.page.url for broken in PAGES if not broken.listed}
    listed = {page.url: "2026-11-20" for page in pages() if page.url not in unlisted}
    listed["https://elsewhere.test/"] = "2026-11-20"
    return replace(
        good_site_facts(),
        robots=FileFacts(status=200, size=len(ROBOTS), content=ROBOTS),
        sitemaps=(read_sitemap(f"{HOST}/sitemap.xml", sitemap(listed)),),
        host=HostFacts(
            http_final_url="http://shop.example/",
            other_www_final_url="https://www.shop.example/",
            certificate_ends_at=(NOW.replace(day=30)).isoformat(),
            unknown_address=UnknownAddress(
                url=f"{HOST}/none", status=200, final_url=f"{HOST}/none"
            ),
        ),
        llms_txt=FileFacts(status=404),
        outcomes=OUTCOMES,
    )


def expected() -> set[tuple[str, str]]:
    """Return every issue of the site, as pairs of check and page."""
    return {
        *((check, broken.page.url) for broken in PAGES for check in broken.checks),
        *((check, f"{HOST}/") for check in OF_SITE),
    }

"""Each check beyond one page: passed, failed, not applicable, and both sides of its bound."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import CheckScope
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import (
    Alternate,
    Canonical,
    Heading,
    HtmlImage,
    PageFacts,
    PageKind,
    ReadFailure,
    RobotsDirectives,
    Structured,
    TextFacts,
)
from spinneret.audits.facts.site import (
    FileFacts,
    HostFacts,
    LinkOutcome,
    SiteFacts,
    SitemapFacts,
    SitemapUrl,
    UnknownAddress,
)
from spinneret.audits.findings import Finding
from spinneret.audits.judging import AuditEvaluator
from tests.rows import each_row
from tests.unit.audits.judged import (
    FAIL,
    HOST,
    NONE,
    NOW,
    PASS,
    UNJUDGED,
    URL,
    in_site,
    links,
    of_site,
    page,
)

NOINDEX = {"robots": (RobotsDirectives("meta", "robots", ("noindex",)),)}
B, C, D = (f"{HOST}/{name}" for name in "bcd")
OTHER = "https://b.example/x"
SITEMAP = f"{HOST}/sitemap.xml"


def other(**values: Any) -> PageFacts:
    return page(B, **values)


def failed(url: str = B, **values: Any) -> PageFacts:
    return page(url, PageKind.FAILED, **values)


def redirect(hops: int = 1, url: str = B, final: str = f"{HOST}/c") -> PageFacts:
    return page(url, PageKind.REDIRECT, final_url=final, redirects=(url,) * hops, status=200)


def moved(url: str, final: str) -> PageFacts:
    """Return a redirect to a known page, which the crawl therefore didn't follow."""
    return page(url, PageKind.REDIRECT, final_url=final, redirects=(url,), status=None)


def file_of(size: int, media_type: str = "application/pdf") -> PageFacts:
    return page(B, PageKind.OTHER, size=size, media_type=media_type)


def to(*urls: str, fragment: str = "") -> PageFacts:
    return page(links=links(*urls, fragment=fragment))


def canonical(url: str = B, **values: Any) -> PageFacts:
    return page(canonicals=(Canonical(url, url),), **values)


def languages(**targets: str) -> dict[str, Any]:
    return {
        "alternates": tuple(
            Alternate(name.replace("_", "-"), url, url) for name, url in targets.items()
        )
    }


def file(content: str = "", **values: Any) -> FileFacts:
    return FileFacts(**{"status": 200, "size": len(content), "content": content, **values})


def sitemap(*urls: str, dates: tuple[str, ...] = (), **values: Any) -> dict[str, Any]:
    entries = tuple(
        SitemapUrl(url, dates[number] if dates else "") for number, url in enumerate(urls)
    )
    facts = {"url": SITEMAP, "entries": entries, "count": len(urls), **values}
    return {"sitemaps": (SitemapFacts(**facts),)}


def changed(date: str) -> PageFacts:
    return page(social=(("article:modified_time", date),))


def described(date: str) -> PageFacts:
    return page(structured=(Structured("json-ld", ("Article",), modified=date),))


def text(words: int, fingerprint: str = "f") -> dict[str, Any]:
    return {"text": TextFacts(words=words, fingerprint=fingerprint)}


def signed(fingerprint: str, bits: int, url: str = URL, **values: Any) -> PageFacts:
    signature = f"{bits:016x}"
    return page(
        url, **values, text=TextFacts(words=900, fingerprint=fingerprint, signature=signature)
    )


def unknown(status: int, final_url: str = f"{HOST}/none", **values: Any) -> dict[str, Any]:
    asked = UnknownAddress(url=f"{HOST}/none", status=status, final_url=final_url, **values)
    return {"host": HostFacts(unknown_address=asked)}


def titled(count: int, title: str = "{} | Timber") -> list[PageFacts]:
    return [page(f"{HOST}/t{n}", titles=(title.format(f"Title {n}"),)) for n in range(count)]


def wordy(count: int) -> list[PageFacts]:
    return [page(f"{HOST}/w{n}", **text(1000, str(n))) for n in range(count)]


def chain(length: int) -> list[PageFacts]:
    """Return a chain of links whose last page, the judged one, comes first."""
    urls = [f"{HOST}/", *(f"{HOST}/c{n}" for n in range(1, length)), URL]
    pages = [page(a, links=links(b)) for a, b in pairwise(urls)]
    return [page(), *pages]


GOOGLEBOT = {"robots": file("User-agent: Googlebot\nDisallow: /page\n")}
RICH = {"structured": (Structured("json-ld", ("Recipe",), ("name",)),)}

IN_SITE: list[tuple[str, str, list[PageFacts], dict[str, Any]]] = [
    ("http.redirect", NONE, [page()], {}),
    ("http.redirect", PASS, [to(B), other()], {}),
    ("http.redirect", PASS, [to(B)], {}),
    ("http.redirect", FAIL, [to(B), redirect()], {}),
    ("http.redirect_chain", NONE, [page()], {}),
    ("http.redirect_chain", PASS, [to(B), redirect(1)], {}),
    ("http.redirect_chain", FAIL, [to(B), redirect(2)], {}),
    ("http.redirect_chain", FAIL, [to(B), redirect(), redirect(url=C, final=D), page(D)], {}),
    ("http.soft_404", PASS, [page(titles=("Oaks",))], {}),
    ("http.soft_404", FAIL, [page(titles=("Error 404",))], {}),
    ("http.soft_404", FAIL, [page(titles=("404 Not Found | Timber",))], {}),
    ("http.soft_404", FAIL, [page(titles=("Oops! That page can\u2019t be found.",))], {}),
    ("http.soft_404", PASS, [page(titles=("Room 404 | Hotel Oak",))], {}),
    ("http.soft_404", PASS, [page(titles=("404 Oak Street",))], {}),
    ("http.soft_404", PASS, [page(titles=("Trees not found in Europe",))], {}),
    ("http.soft_404", FAIL, [page(headings=(Heading(1, "Seite nicht gefunden"),))], {}),
    ("http.soft_404", PASS, [page(headings=(Heading(2, "Page not found"),))], {}),
    ("http.soft_404", FAIL, [page(titles=("Not found",), **text(300))], {}),
    ("http.soft_404", PASS, [page(titles=("Not found",), **text(301))], {}),
    ("http.soft_404", PASS, [page(**text(900, "f"))], unknown(404, fingerprint="g")),
    ("http.soft_404", FAIL, [page(**text(900, "f"))], unknown(200, fingerprint="f")),
    ("http.soft_404", FAIL, [signed("f", 127)], unknown(200, signature=f"{0:016x}")),
    ("http.soft_404", PASS, [signed("f", 255)], unknown(200, signature=f"{0:016x}")),
    ("http.soft_404", PASS, [page(**text(900, "f"))],
     unknown(200, fingerprint="f", final_url=URL)),
    ("http.redirect_chain", FAIL, [to(B), failed(failure=ReadFailure.TOO_MANY_REDIRECTS)], {}),
    ("http.pdf_size", NONE, [to(B), other()], {}),
    ("http.pdf_size", PASS, [to(B), file_of(31_457_280)], {}),
    ("http.pdf_size", FAIL, [to(B), file_of(31_457_281)], {}),
    ("http.pdf_size", NONE, [to(B), file_of(31_457_281, "application/zip")], {}),
    ("http.pdf_size", PASS, [to(B)],
     {"outcomes": {B: LinkOutcome(200, size=31_457_280, media_type="application/pdf")}}),
    ("http.pdf_size", FAIL, [to(B)],
     {"outcomes": {B: LinkOutcome(200, size=31_457_281, media_type="application/pdf")}}),
    ("index.blocked", PASS, [page()], {}),
    ("index.blocked", FAIL, [failed(URL, failure=ReadFailure.ROBOTS)], {}),
    ("index.blocked", FAIL, [page()], GOOGLEBOT),
    ("index.conflict", PASS, [page(**NOINDEX)], {}),
    ("index.conflict", PASS, [page()], GOOGLEBOT),
    ("index.conflict", FAIL, [page(**NOINDEX)], GOOGLEBOT),
    ("sitemap.coverage", PASS, [page()], sitemap(URL)),
    ("sitemap.coverage", PASS, [page()], sitemap(f"{URL}/")),
    ("sitemap.coverage", FAIL, [page()], sitemap(B)),
    ("sitemap.coverage", NONE, [canonical()], sitemap(B)),
    ("sitemap.coverage", PASS, [page()], {**sitemap(URL), "has_all_sitemaps": False}),
    ("sitemap.coverage", UNJUDGED, [page()], {**sitemap(B), "has_all_sitemaps": False}),
    ("canonical.root", PASS, [canonical(URL)], {}),
    ("canonical.root", FAIL, [canonical(f"{HOST}/")], {}),
    ("canonical.root", PASS, [canonical("https://b.example/")], {}),
    ("canonical.root", PASS, [canonical(f"{HOST}/"), page(f"{HOST}/")], {}),
    ("canonical.root", FAIL, [canonical(f"{HOST}/"), page(f"{HOST}/", **text(9, "g"))], {}),
    ("canonical.hreflang", NONE, [canonical()], {}),
    ("canonical.hreflang", PASS, [canonical(URL, **languages(en=URL, de=B))], {}),
    ("canonical.hreflang", FAIL, [canonical(B, **languages(en=URL, de=B))], {}),
    ("canonical.hreflang", PASS, [canonical(f"{URL}/", **languages(en=f"{URL}/", de=B))], {}),
    ("canonical.to_redirect", PASS, [canonical(), other()], {}),
    ("canonical.to_redirect", FAIL, [canonical(), redirect()], {}),
    ("canonical.to_error", PASS, [canonical()], {}),
    ("canonical.to_error", FAIL, [canonical(), failed(status=404)], {}),
    ("canonical.to_error", PASS, [canonical(), failed(failure=ReadFailure.ROBOTS)], {}),
    ("canonical.to_noindex", PASS, [canonical(), other()], {}),
    ("canonical.to_noindex", FAIL, [canonical(), other(**NOINDEX)], {}),
    ("canonical.to_noindex", FAIL, [canonical(), failed(failure=ReadFailure.ROBOTS)], {}),
    ("canonical.to_noncanonical", PASS, [canonical(), other(canonicals=(Canonical(B, B),))], {}),
    ("canonical.to_noncanonical", PASS,
     [canonical(), other(canonicals=(Canonical(f"{B}/", f"{B}/"),))], {}),
    ("canonical.to_noncanonical", FAIL,
     [canonical(), other(canonicals=(Canonical(URL, URL),))], {}),
    ("title.duplicate", PASS, [page(), other(titles=("Another",))], {}),
    ("title.duplicate", FAIL, [page(), other()], {}),
    ("title.duplicate", FAIL, [canonical(f"{URL}/"), other()], {}),
    ("title.duplicate", NONE, [page(**NOINDEX), other()], {}),
    ("title.duplicate", PASS, [page(), other(**NOINDEX)], {}),
    ("title.duplicate", PASS, [page(**languages(en_GB=URL, en_US=f"{B}/")), other()], {}),
    ("title.duplicate", FAIL, [page(**languages(en_GB=URL, en_US=C)), other()], {}),
    ("title.outlier", NONE, [page(), *titled(3)], {}),
    ("title.outlier", FAIL, [page(), *titled(4)], {}),
    ("title.outlier", NONE, [page(), other(), *titled(3)], {}),
    ("title.outlier", PASS, titled(5), {}),
    ("title.outlier", PASS, titled(5, "Timber – {}"), {}),  # noqa: RUF001 - a dash of titles
    ("desc.duplicate", PASS, [page(descriptions=("a",)), other(descriptions=("b",))], {}),
    ("desc.duplicate", FAIL, [page(descriptions=("a",)), other(descriptions=("a",))], {}),
    ("desc.duplicate", NONE, [page(descriptions=("a",), **NOINDEX)], {}),
    ("content.thin_vs_norm", NONE, [page(**text(1)), *wordy(8)], {}),
    ("content.thin_vs_norm", FAIL, [page(**text(249)), *wordy(9)], {}),
    ("content.thin_vs_norm", PASS, [page(**text(250)), *wordy(9)], {}),
    ("content.duplicate", PASS, [page(**text(9, "a")), other(**text(9, "b"))], {}),
    ("content.duplicate", FAIL, [page(**text(9, "a")), other(**text(9, "a"))], {}),
    ("content.duplicate", NONE, [page(**text(0, "")), other(**text(0, ""))], {}),
    ("content.duplicate", PASS, [page(**languages(en_US=B)), other()], {}),
    ("content.near_duplicate", NONE, [page()], {}),
    ("content.near_duplicate", FAIL, [signed("a", 0), signed("b", 127, B)], {}),
    ("content.near_duplicate", PASS, [signed("a", 0), signed("b", 255, B)], {}),
    ("content.near_duplicate", PASS, [signed("a", 0, **languages(en=B)), signed("b", 1, B)], {}),
    ("content.near_duplicate", PASS, [signed("a", 0), signed("a", 0, B)], {}),
    ("content.near_duplicate", PASS, [signed("a", 0), signed("b", 127, B, **NOINDEX)], {}),
    ("title.duplicate", FAIL, [page(titles=("The OAK",)), other(titles=("the  oak",))], {}),
    ("desc.duplicate", FAIL, [page(descriptions=("A",)), other(descriptions=("a",))], {}),
    ("hreflang.no_return", NONE, [page()], {}),
    ("hreflang.no_return", PASS,
     [page(**languages(de=B)), other(**languages(en=URL))], {}),
    ("hreflang.no_return", FAIL, [page(**languages(de=B)), other()], {}),
    ("hreflang.no_return", PASS,
     [page(**languages(de=B)), other(**languages(en=f"{URL}/"))], {}),
    ("hreflang.no_return", PASS, [page(**languages(de=B))], {}),
    ("hreflang.no_return", PASS,
     [page(**languages(de=B)), other(alternates=(Alternate("fr", C, C),) * 200)], {}),
    ("hreflang.bad_target", NONE, [page()], {}),
    ("hreflang.bad_target", PASS, [page(**languages(de=B)), other()], {}),
    ("hreflang.bad_target", FAIL, [page(**languages(de=B)), redirect()], {}),
    ("hreflang.bad_target", FAIL, [page(**languages(de=B)), failed(status=500)], {}),
    ("hreflang.bad_target", FAIL, [page(**languages(de=B)), other(**NOINDEX)], {}),
    ("links.broken_internal", NONE, [page()], {}),
    ("links.broken_internal", PASS, [to(B), other()], {}),
    ("links.broken_internal", PASS, [to(B)], {}),
    ("links.broken_internal", PASS, [to(B), failed(status=399)], {}),
    ("links.broken_internal", FAIL, [to(B), failed(status=400)], {}),
    ("links.broken_internal", FAIL, [to(B), failed(failure=ReadFailure.TIMEOUT)], {}),
    ("links.broken_internal", PASS, [to(B), failed(failure=ReadFailure.ROBOTS)], {}),
    ("links.broken_internal", FAIL, [to(B)], {"outcomes": {B: LinkOutcome(404)}}),
    ("links.broken_internal", PASS, [to(B), moved(B, C), page(C)], {}),
    ("links.broken_internal", FAIL, [to(B), moved(B, C), failed(C, status=404)], {}),
    ("links.broken_internal", FAIL, [to(B), moved(B, C), moved(C, D), failed(D, status=404)], {}),
    ("links.broken_internal", PASS, [to(B), moved(B, C)], {}),
    ("links.broken_internal", PASS,
     [to(B), moved(B, C), failed(C, failure=ReadFailure.ROBOTS)], {}),
    ("links.broken_internal", FAIL, [to(B), moved(B, C), moved(C, B)], {}),
    ("links.broken_internal", PASS, [to(B), moved(B, f"{B}/")], {}),
    ("links.broken_internal", PASS, [to(B), moved(B, OTHER)], {}),
    ("links.broken_internal", FAIL, [to(B), moved(B, OTHER)],
     {"outcomes": {OTHER: LinkOutcome(404)}}),
    ("links.broken_internal", PASS, [to(B), failed(failure=ReadFailure.TOO_LARGE)], {}),
    ("links.broken_external", NONE, [page()], {}),
    ("links.broken_external", UNJUDGED, [to(OTHER)], {}),
    ("links.broken_external", PASS, [to(OTHER)], {"outcomes": {OTHER: LinkOutcome()}}),
    ("links.broken_external", PASS, [to(OTHER)], {"outcomes": {OTHER: LinkOutcome(200)}}),
    ("links.broken_external", FAIL, [to(OTHER)], {"outcomes": {OTHER: LinkOutcome(404)}}),
    ("links.broken_external", PASS, [to(OTHER)], {"outcomes": {OTHER: LinkOutcome(403)}}),
    ("links.broken_external", FAIL, [to(OTHER)],
     {"outcomes": {OTHER: LinkOutcome(None, ReadFailure.NETWORK)}}),
    ("links.external_redirect", NONE, [page()], {}),
    ("links.external_redirect", UNJUDGED, [to(OTHER)], {}),
    ("links.external_redirect", PASS, [to(OTHER)], {"outcomes": {OTHER: LinkOutcome(200)}}),
    ("links.external_redirect", FAIL, [to(OTHER)],
     {"outcomes": {OTHER: LinkOutcome(200, redirected_to="https://c.example/")}}),
    ("links.fragment", NONE, [to(B), other()], {}),
    ("links.fragment", NONE, [to(B, fragment="x")], {}),
    ("links.fragment", PASS, [to(B, fragment="x"), other(anchors=("x",))], {}),
    ("links.fragment", FAIL, [to(B, fragment="x"), other(anchors=("X",))], {}),
    ("links.fragment", PASS, [to(B, fragment="%C3%A4"), other(anchors=("ä",))], {}),
    ("links.fragment", PASS, [to(B, fragment="a%20b"), other(anchors=("a%20b",))], {}),
    ("links.fragment", NONE,
     [to(B, fragment="x"), other(anchors=tuple(map(str, range(10_000))))], {}),
    ("links.fragment", PASS, [to(B, fragment="top"), other()], {}),
    ("links.fragment", NONE, [to(B, fragment=":~:text=x"), other()], {}),
    ("links.fragment", FAIL, [to(URL, fragment="x")], {}),
    ("links.orphan", UNJUDGED, [page()], {}),
    ("links.orphan", PASS, [page(), moved(B, C), moved(C, URL), page(D, links=links(B))],
     {"is_whole": True}),
    ("links.orphan", FAIL, [page()], {"is_whole": True}),
    ("links.orphan", UNJUDGED, [page(), other(links=links(B) * 3000)], {"is_whole": True}),
    ("links.orphan", PASS, [page(), other(links=links(URL))], {"is_whole": True}),
    ("links.orphan", FAIL, [to(URL)], {"is_whole": True}),
    ("links.orphan", PASS, [page(), redirect(final=URL), page(f"{HOST}/d", links=links(B))],
     {"is_whole": True}),
    ("links.orphan", NONE, [page(f"{HOST}/")], {"is_whole": True}),
    ("links.dead_end", FAIL, [page()], {}),
    ("links.dead_end", FAIL, [to(URL)], {}),
    ("links.dead_end", PASS, [to(OTHER)], {}),
    ("links.depth", UNJUDGED, [page()], {}),
    ("links.depth", PASS, chain(4), {}),
    ("links.depth", FAIL, chain(5), {}),
    ("img.size", NONE, [page()], {}),
    ("img.size", UNJUDGED, [page(images=(HtmlImage(B, ""),))], {}),
    ("img.size", PASS, [page(images=(HtmlImage(B, ""),))],
     {"outcomes": {B: LinkOutcome(200, size=500_000)}}),
    ("img.size", FAIL, [page(images=(HtmlImage(B, ""),))],
     {"outcomes": {B: LinkOutcome(200, size=500_001)}}),
    ("img.broken", NONE, [page()], {}),
    ("img.broken", UNJUDGED, [page(images=(HtmlImage(B, ""),))], {}),
    ("img.broken", PASS, [page(images=(HtmlImage(B, ""),))], {"outcomes": {B: LinkOutcome(200)}}),
    ("img.broken", FAIL, [page(images=(HtmlImage(B, ""),))], {"outcomes": {B: LinkOutcome(404)}}),
    ("img.broken", PASS, [page(images=(HtmlImage(B, ""),))],
     {"outcomes": {B: LinkOutcome(200, media_type="image/png")}}),
    ("img.broken", FAIL, [page(images=(HtmlImage(B, ""),))],
     {"outcomes": {B: LinkOutcome(200, media_type="text/html")}}),
    ("img.broken", PASS, [page(images=(HtmlImage(B, ""),))],
     {"outcomes": {B: LinkOutcome(403, media_type="text/html")}}),
    ("schema.noindexed", NONE, [page(**NOINDEX)], {}),
    ("schema.noindexed", PASS, [page(**RICH)], {}),
    ("schema.noindexed", FAIL, [page(**RICH, **NOINDEX)], {}),
    ("schema.noindexed", FAIL, [page(**RICH)], GOOGLEBOT),
]  # fmt: skip

DISALLOWED = {"robots": file("User-agent: *\nDisallow: /b\n")}
SAME_DAY = ("2026-11-20",)

OF_SITE: list[tuple[str, str, list[PageFacts], dict[str, Any]]] = [
    ("robots.unreachable", PASS, [], {"robots": file()}),
    ("robots.unreachable", PASS, [], {"robots": FileFacts(status=499)}),
    ("robots.unreachable", FAIL, [], {"robots": FileFacts(status=500)}),
    ("robots.unreachable", FAIL, [], {"robots": FileFacts(status=None)}),
    ("robots.missing", PASS, [], {"robots": file("")}),
    ("robots.missing", FAIL, [], {"robots": FileFacts(status=404)}),
    ("robots.size", PASS, [], {"robots": file(size=512_000)}),
    ("robots.size", FAIL, [], {"robots": file(size=512_001)}),
    ("robots.redirects", PASS, [], {"robots": file(redirects=5)}),
    ("robots.redirects", FAIL, [], {"robots": file(redirects=6)}),
    ("robots.blocks_all", PASS, [], {"robots": FileFacts(status=404)}),
    ("robots.blocks_all", FAIL, [], {"robots": file("User-agent: *\nDisallow: /")}),
    ("robots.blocks_all", PASS, [], {"robots": file("User-agent: *\nDisallow: /\nAllow: /a")}),
    ("robots.blocks_all", PASS, [], {"robots": file("User-agent: x\nDisallow: /")}),
    ("robots.ai_crawlers", PASS, [], {"robots": file()}),
    ("robots.ai_crawlers", FAIL, [], {"robots": file("User-agent: gptbot\nDisallow: /")}),
    ("sitemap.missing", FAIL, [], {}),
    ("sitemap.missing", FAIL, [], sitemap(status=404)),
    ("sitemap.missing", PASS, [], sitemap(URL)),
    ("sitemap.invalid", PASS, [], sitemap(URL, count=50_000, size=52_428_800)),
    ("sitemap.invalid", FAIL, [], sitemap(URL, count=50_001)),
    ("sitemap.invalid", FAIL, [], sitemap(URL, size=52_428_801)),
    ("sitemap.invalid", FAIL, [], sitemap(error="not_xml")),
    ("sitemap.invalid", FAIL, [], sitemap(status=500)),
    ("sitemap.4xx", PASS, [page()], sitemap(URL)),
    ("sitemap.4xx", FAIL, [failed(status=404)], sitemap(B)),
    ("sitemap.4xx", PASS, [failed(failure=ReadFailure.ROBOTS)], sitemap(B)),
    ("sitemap.noindex", PASS, [page()], sitemap(URL)),
    ("sitemap.noindex", FAIL, [page(**NOINDEX)], sitemap(URL)),
    ("sitemap.blocked", PASS, [], {**sitemap(URL), **DISALLOWED}),
    ("sitemap.blocked", FAIL, [], {**sitemap(B), **DISALLOWED}),
    ("sitemap.noncanonical", PASS, [canonical(URL)], sitemap(URL)),
    ("sitemap.noncanonical", FAIL, [canonical(B)], sitemap(URL)),
    ("sitemap.noncanonical", FAIL, [redirect()], sitemap(B)),
    ("sitemap.foreign", PASS, [], sitemap(URL, "https://www.a.example/")),
    ("sitemap.foreign", FAIL, [], sitemap(OTHER)),
    ("sitemap.foreign", FAIL, [], sitemap("/page")),
    ("sitemap.lastmod", NONE, [], sitemap(URL)),
    ("sitemap.lastmod", PASS, [], sitemap(URL, dates=("2026-11",))),
    ("sitemap.lastmod", PASS, [], sitemap(URL, dates=("2026-11-23T12:00:00Z",))),
    ("sitemap.lastmod", FAIL, [], sitemap(URL, dates=("2026-11-23T12:00:01Z",))),
    ("sitemap.lastmod", FAIL, [], sitemap(URL, dates=("22/11/2026 12:00",))),
    ("sitemap.lastmod", PASS, [],
     sitemap(*(f"{HOST}/{n}" for n in range(9)), dates=SAME_DAY * 9)),
    ("sitemap.lastmod", FAIL, [],
     sitemap(*(f"{HOST}/{n}" for n in range(10)), dates=SAME_DAY * 10)),
    ("sitemap.lastmod", PASS, [changed("2026-11-09")], sitemap(URL, dates=("2026-11-02",))),
    ("sitemap.lastmod", FAIL, [changed("2026-11-10")], sitemap(URL, dates=("2026-11-02",))),
    ("sitemap.lastmod", FAIL, [changed("2026-10-25T23:00:00Z")],
     sitemap(URL, dates=("2026-11-02T01:00:00Z",))),
    ("sitemap.lastmod", PASS, [changed("2026-10-26T23:00:00Z")],
     sitemap(URL, dates=("2026-11-02T01:00:00Z",))),
    ("sitemap.lastmod", FAIL, [described("2026-10-01")], sitemap(URL, dates=("2026-11-02",))),
    ("sitemap.lastmod", PASS, [changed("some day")], sitemap(URL, dates=("2026-11-02",))),
    ("sitemap.lastmod", PASS, [changed("2026-01-01")], sitemap(URL, dates=("2026-11",))),
    ("sitemap.lastmod", PASS, [changed("2026-01-01")], sitemap(B, dates=("2026-11-02",))),
    ("canonical.drift", PASS, [canonical(URL), other()], {}),
    ("canonical.drift", FAIL,
     [canonical(URL), other(canonicals=(Canonical("x", "https://www.a.example/b"),))], {}),
    ("canonical.drift", PASS, [page(f"{HOST}/")], {"host": HostFacts(other_www_final_url="")}),
    ("canonical.drift", PASS, [page(f"{HOST}/")],
     {"host": HostFacts(other_www_final_url=f"{HOST}/")}),
    ("canonical.drift", FAIL, [page(f"{HOST}/")],
     {"host": HostFacts(other_www_final_url="https://www.a.example/")}),
    ("sec.http_redirect", NONE, [], {}),
    ("sec.http_redirect", PASS, [], {"host": HostFacts(http_final_url=f"{HOST}/")}),
    ("sec.http_redirect", FAIL, [], {"host": HostFacts(http_final_url="http://a.example/")}),
    ("http.unknown_address", NONE, [], {}),
    ("http.unknown_address", PASS, [], unknown(404)),
    ("http.unknown_address", PASS, [], unknown(403)),
    ("http.unknown_address", FAIL, [], unknown(200)),
    ("sec.certificate", NONE, [], {}),
    ("sec.certificate", PASS, [],
     {"host": HostFacts(certificate_ends_at="2026-12-06T12:00:00+00:00")}),
    ("sec.certificate", FAIL, [],
     {"host": HostFacts(certificate_ends_at="2026-12-06T11:59:59+00:00")}),
    ("agents.llms_txt", FAIL, [], {"llms_txt": FileFacts(status=404)}),
    ("agents.llms_txt", FAIL, [], {"llms_txt": file("Trees")}),
    ("agents.llms_txt", PASS, [], {"llms_txt": file("\n# Trees")}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", PASS),
        ("User-agent: *\nDisallow:", PASS),
        ("\ufeffUser-agent: *\nDisallow: /a # all of it", PASS),
        ("User-agent: *\nAllow: *.gif$", PASS),
        ("Sitemap: https://a.example/s.xml", PASS),
        ("Crawl-delay: 5", PASS),
        ("Disallow: /a\nUser-agent: *", FAIL),
        ("User-agent:", FAIL),
        ("User-agent: *\nDisallow: a", FAIL),
        ("User-agent: *\nDisallow: /a$b", FAIL),
        ("User-agent: *\nDisalow: /a", FAIL),
        ("User-agent: *\nDisallow /a", FAIL),
        ("Sitemap: /s.xml", FAIL),
    ],
)
def test_lines_of_robots_txt(line: str, expected: str) -> None:
    assert of_site("robots.syntax", robots=file(line)) == expected


@each_row((f"{row[0]} {row[1]} {number}", row) for number, row in enumerate(IN_SITE))
def test_a_check_of_a_page_among_others(
    row: tuple[str, str, list[PageFacts], dict[str, Any]],
) -> None:
    check, expected, pages, facts = row
    assert in_site(check, pages, **facts) == expected


@each_row((f"{row[0]} {row[1]} {number}", row) for number, row in enumerate(OF_SITE))
def test_a_check_of_the_site(row: tuple[str, str, list[PageFacts], dict[str, Any]]) -> None:
    check, expected, pages, facts = row
    assert of_site(check, pages, **facts) == expected


def test_every_check_beyond_a_page_passes_and_fails_somewhere() -> None:
    seen = {(check, expected) for check, expected, _, _ in [*IN_SITE, *OF_SITE]}
    for check in catalogue():
        if check.scope is not CheckScope.PAGE and check.id != "robots.syntax":
            assert {(check.id, PASS), (check.id, FAIL)} <= seen, check.id


ALIKE = {"titles": ("The oak",), "descriptions": ("A tree.",), **text(9, "a")}


def compared(*canonicals: Canonical, off: tuple[str, ...] = ()) -> set[str]:
    """Return the checks that a page with these canonical links fails, beside a similar page."""
    found: list[Finding] = []
    audit = AuditEvaluator(f"{HOST}/", found.append, off)
    for each in (page(canonicals=canonicals, **ALIKE), other(canonicals=(), **ALIKE)):
        audit.page(each)
    robots = FileFacts(status=200)
    audit.finish(SiteFacts(start_url=f"{HOST}/", audited_at=NOW, robots=robots, **sitemap(B)))
    return {each.check for each in found if each.url == URL}


@pytest.mark.parametrize("off", [(), ("canonical.missing",), ("canonical.conflict",)])
def test_a_page_without_a_canonical_link_is_compared_with_the_others(off: tuple[str, ...]) -> None:
    names = {"title.duplicate", "desc.duplicate", "content.duplicate", "sitemap.coverage"}
    assert names <= compared(off=off)


def test_a_page_with_conflicting_canonical_links_is_compared_with_no_other() -> None:
    found = compared(Canonical(URL, URL), Canonical(B, B))
    assert "canonical.conflict" in found
    assert not found & {"title.duplicate", "content.duplicate", "sitemap.coverage"}


SAME: list[Callable[[str], str]] = [lambda url: f"{url}/", lambda url: url]


@pytest.mark.parametrize("form", SAME)
def test_a_slash_at_the_end_of_a_link_is_the_same_page(form: Callable[[str], str]) -> None:
    assert in_site("links.broken_internal", [to(form(B)), failed(status=404)]) == FAIL


@pytest.mark.parametrize(
    "start", ["https://a.example:8443/", "https://a.example/", "http://[::1]/", "http://[::1]:80/"]
)
def test_the_pages_of_a_host_are_its_own(start: str) -> None:
    site = Site(start)
    assert site.is_internal(start)
    assert not site.is_internal("https://b.example:8443/")

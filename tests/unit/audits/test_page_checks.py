"""Each check of a page by itself: passed, failed, doesn't apply, and on both sides of its bound."""

from __future__ import annotations

from typing import Any

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import CheckScope
from spinneret.audits.facts.models import (
    Alternate,
    Canonical,
    Cookie,
    Failure,
    Form,
    Heading,
    Image,
    Kind,
    Link,
    Robots,
    Structured,
    TextFacts,
)
from tests.rows import each_row
from tests.unit.audits.judged import FAIL, HOST, NONE, PASS, URL, links, of_page

FAILED = {"kind": Kind.FAILED}
MEBIBYTE = 1024 * 1024


def headers(**values: str) -> dict[str, Any]:
    return {"headers": tuple((name.replace("_", "-"), text) for name, text in values.items())}


def meta(*directives: str, agent: str = "robots") -> dict[str, Any]:
    return {"robots": (Robots("meta", agent, directives),)}


def canonical(*hrefs: str, url: str | None = URL) -> dict[str, Any]:
    return {"canonicals": tuple(Canonical(href, url) for href in hrefs)}


def alternate(language: str, url: str | None = URL, href: str = URL) -> Alternate:
    return Alternate(language, href, url)


def image(**values: Any) -> dict[str, Any]:
    return {"images": (Image(**{"url": f"{HOST}/i.png", "alt": "An oak", **values}),)}


def data(kind: str, *properties: str, error: str = "") -> dict[str, Any]:
    return {"structured": (Structured("json-ld", (kind,), properties, error),)}


def social(**changes: str | None) -> dict[str, Any]:
    complete = {
        **{f"og:{name}": "x" for name in ("title", "type", "image", "description")},
        "og:url": URL,
        "twitter:card": "summary",
        **{name.replace("__", ":"): value for name, value in changes.items()},
    }
    return {"social": tuple((name, value) for name, value in complete.items() if value)}


def text(**values: Any) -> dict[str, Any]:
    return {"text": TextFacts(**{"words": 300, "prose_words": 300, **values})}


def link(**values: Any) -> dict[str, Any]:
    return {"links": (Link(**{"url": f"{HOST}/b", "href": None, "text": "Oaks", **values}),)}


CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("http.4xx", PASS, {}),
    ("http.4xx", PASS, {**FAILED, "status": 399}),
    ("http.4xx", FAIL, {**FAILED, "status": 400}),
    ("http.4xx", FAIL, {**FAILED, "status": 499}),
    ("http.4xx", PASS, {**FAILED, "status": 500}),
    ("http.5xx", PASS, {**FAILED, "status": 499}),
    ("http.5xx", FAIL, {**FAILED, "status": 500}),
    ("http.5xx", FAIL, {**FAILED, "status": 599}),
    ("http.5xx", PASS, {}),
    ("http.timeout", PASS, {}),
    ("http.timeout", FAIL, {**FAILED, "failure": Failure.TIMEOUT}),
    ("http.timeout", FAIL, {**FAILED, "failure": Failure.NETWORK}),
    ("http.timeout", PASS, {**FAILED, "failure": Failure.ROBOTS}),
    ("http.redirect_loop", PASS, {}),
    ("http.redirect_loop", FAIL, {**FAILED, "failure": Failure.REDIRECT_LOOP}),
    ("http.redirect_loop", FAIL, {**FAILED, "failure": Failure.TOO_MANY_REDIRECTS}),
    ("http.soft_404", PASS, {"titles": ("Oaks",)}),
    ("http.soft_404", FAIL, {"titles": ("Error 404",)}),
    ("http.soft_404", FAIL, {"headings": (Heading(1, "Seite nicht gefunden"),)}),
    ("http.soft_404", PASS, {"headings": (Heading(2, "Page not found"),)}),
    ("http.soft_404", FAIL, {"titles": ("Not found",), **text(words=300)}),
    ("http.soft_404", PASS, {"titles": ("Not found",), **text(words=301)}),
    ("http.ttfb", PASS, {"first_byte_ms": 800}),
    ("http.ttfb", FAIL, {"first_byte_ms": 801}),
    ("http.ttfb", NONE, {"first_byte_ms": None}),
    ("http.html_size", PASS, {"size": MEBIBYTE}),
    ("http.html_size", FAIL, {"size": MEBIBYTE + 1}),
    ("http.html_size", FAIL, {**FAILED, "failure": Failure.TOO_LARGE}),
    ("http.compression", NONE, {"size": 1023}),
    ("http.compression", FAIL, {"size": 1024}),
    ("http.compression", FAIL, {"size": 1024, **headers(content_encoding="identity")}),
    ("http.compression", PASS, {"size": 1024, **headers(content_encoding="br")}),
    ("http.cache", FAIL, {}),
    ("http.cache", PASS, headers(etag='"1"')),
    ("http.cache", PASS, headers(last_modified="Sat, 21 Nov 2026 00:00:00 GMT")),
    ("http.cache", PASS, headers(cache_control="public, max-age=86400")),
    ("http.cache", FAIL, headers(cache_control="public, max-age=86399")),
    ("http.cache", PASS, headers(expires="Sun, 22 Nov 2027 00:00:00 GMT")),
    ("http.cache", FAIL, headers(expires="0", cache_control="no-store")),
    ("http.mime", NONE, {"url": f"{HOST}/page", "media_type": "text/html"}),
    ("http.mime", NONE, {"url": f"{HOST}/page.php", "media_type": "text/html"}),
    ("http.mime", PASS, {"url": f"{HOST}/page.html", "media_type": "text/html"}),
    ("http.mime", FAIL, {"url": f"{HOST}/page.PDF", "media_type": "text/html"}),
    ("http.mime", PASS, {"url": f"{HOST}/f.xml", "media_type": "application/rss+xml"}),
    ("index.noindex", PASS, meta("index", "nofollow")),
    ("index.noindex", FAIL, meta("noindex")),
    ("index.noindex", FAIL, meta("none", agent="archive.org_bot")),
    ("index.noindex", PASS, meta("noindex", agent="otherbot")),
    ("index.unavailable_after", PASS, {}),
    ("index.unavailable_after", FAIL, meta("unavailable_after:2026-11-22T11:59:59+00:00")),
    ("index.unavailable_after", PASS, meta("unavailable_after:2026-11-22T12:00:00+00:00")),
    ("index.unavailable_after", PASS, meta("unavailable_after:some day")),
    ("index.nosnippet", PASS, meta("max-snippet:1")),
    ("index.nosnippet", FAIL, meta("max-snippet:0")),
    ("index.nosnippet", FAIL, meta("nosnippet")),
    ("index.noimageindex", PASS, {}),
    ("index.noimageindex", FAIL, meta("noimageindex")),
    ("canonical.missing", FAIL, {}),
    ("canonical.missing", PASS, canonical(URL)),
    ("canonical.missing", PASS, {"header_canonical": URL}),
    ("canonical.conflict", PASS, canonical(URL, "/page")),
    ("canonical.conflict", FAIL,
     {"canonicals": (Canonical("/a", f"{HOST}/a"), Canonical("/b", f"{HOST}/b"))}),
    ("canonical.relative", PASS, canonical("HTTPS://a.example/page")),
    ("canonical.relative", FAIL, canonical("/page")),
    ("canonical.relative", FAIL, canonical("//a.example/page")),
    ("canonical.relative", PASS, canonical("mailto:a", url=None)),
    ("canonical.invalid", PASS, canonical("/page")),
    ("canonical.invalid", FAIL, canonical("", url=None)),
    ("canonical.header", NONE, canonical(URL)),
    ("canonical.header", PASS, {**canonical(URL), "header_canonical": URL}),
    ("canonical.header", FAIL, {**canonical(URL), "header_canonical": f"{HOST}/b"}),
    ("title.missing", PASS, {"titles": ("", "Oaks")}),
    ("title.missing", FAIL, {"titles": ()}),
    ("title.missing", FAIL, {"titles": ("",)}),
    ("title.short", FAIL, {"titles": ("x" * 19,)}),
    ("title.short", PASS, {"titles": ("x" * 20,)}),
    ("title.long", PASS, {"titles": ("x" * 60,)}),
    ("title.long", FAIL, {"titles": ("x" * 61,)}),
    ("title.multiple", PASS, {"titles": ("Oaks",)}),
    ("title.multiple", FAIL, {"titles": ("Oaks", "Oaks")}),
    ("desc.missing", PASS, {"descriptions": ("Oaks",)}),
    ("desc.missing", FAIL, {}),
    ("desc.short", FAIL, {"descriptions": ("x" * 79,)}),
    ("desc.short", PASS, {"descriptions": ("x" * 80,)}),
    ("desc.long", PASS, {"descriptions": ("x" * 160,)}),
    ("desc.long", FAIL, {"descriptions": ("x" * 161,)}),
    ("desc.multiple", PASS, {"descriptions": ("Oaks",)}),
    ("desc.multiple", FAIL, {"descriptions": ("Oaks", "Pines")}),
    ("h1.missing", PASS, {"headings": (Heading(1, "Oaks"),)}),
    ("h1.missing", FAIL, {"headings": (Heading(1, ""), Heading(2, "Oaks"))}),
    ("h1.multiple", PASS, {"headings": (Heading(1, "Oaks"),)}),
    ("h1.multiple", FAIL, {"headings": (Heading(1, "Oaks"), Heading(1, "Pines"))}),
    ("headings.order", PASS, {"headings": (Heading(1, "a"), Heading(2, "b"), Heading(3, "c"))}),
    ("headings.order", PASS, {"headings": (Heading(3, "a"), Heading(1, "b"))}),
    ("headings.order", FAIL, {"headings": (Heading(1, "a"), Heading(3, "b"))}),
    ("lang.missing", PASS, {"lang": "en"}),
    ("lang.missing", FAIL, {}),
    ("lang.invalid", PASS, {"lang": "pt-BR"}),
    ("lang.invalid", PASS, {"lang": "zh-Hant-TW"}),
    ("lang.invalid", PASS, {"lang": "es-419"}),
    ("lang.invalid", PASS, {"lang": "gsw"}),
    ("lang.invalid", FAIL, {"lang": "en-UK"}),
    ("lang.invalid", FAIL, {"lang": "english"}),
    ("lang.invalid", FAIL, {"lang": "en_US"}),
    ("lang.invalid", FAIL, {"lang": "xx"}),
    ("charset", PASS, {"charset": "meta"}),
    ("charset", FAIL, {}),
    ("doctype", PASS, {"doctype": "html"}),
    ("doctype", PASS, {"doctype": 'html system "about:legacy-compat"'}),
    ("doctype", FAIL, {"doctype": 'html public "-//w3c//dtd html 4.01//en"'}),
    ("doctype", FAIL, {}),
    ("viewport.missing", PASS, {"viewport": "width=device-width"}),
    ("viewport.missing", FAIL, {"viewport": ""}),
    ("viewport.zoom", PASS, {"viewport": "width=device-width, maximum-scale=5"}),
    ("viewport.zoom", FAIL, {"viewport": "width=device-width, maximum-scale=4.9"}),
    ("viewport.zoom", FAIL, {"viewport": "user-scalable=no"}),
    ("viewport.zoom", FAIL, {"viewport": "user-scalable=0"}),
    ("viewport.zoom", PASS, {"viewport": "user-scalable=1"}),
    ("viewport.zoom", PASS, {"viewport": "maximum-scale=.5.5"}),
    ("meta.in_body", PASS, {}),
    ("meta.in_body", FAIL, {"body_metas": ("meta robots",)}),
    ("content.thin", FAIL, text(words=199)),
    ("content.thin", PASS, text(words=200)),
    ("content.stuffing", NONE, text(prose_words=199, top_count=100)),
    ("content.stuffing", PASS, text(prose_words=1000, top_count=30)),
    ("content.stuffing", FAIL, text(prose_words=1000, top_count=31)),
    ("content.stuffing", PASS, text(prose_words=200, top_count=9)),
    ("content.hidden", PASS, {}),
    ("content.hidden", FAIL, text(hidden=("cheap oaks",))),
    ("content.mojibake", PASS, text(broken_characters=0)),
    ("content.mojibake", FAIL, text(broken_characters=1)),
    ("html.duplicate_id", PASS, {}),
    ("html.duplicate_id", FAIL, {"duplicate_ids": ("a",)}),
    ("html.dom_size", PASS, {"elements": 1500, "depth": 32}),
    ("html.dom_size", FAIL, {"elements": 1501}),
    ("html.dom_size", FAIL, {"depth": 33}),
    ("html.dom_size", FAIL, {**FAILED, "failure": Failure.TOO_COMPLEX}),
    ("hreflang.invalid", NONE, {}),
    ("hreflang.invalid", PASS, {"alternates": (alternate("x-default"), alternate("en-gb"))}),
    ("hreflang.invalid", FAIL, {"alternates": (alternate("en-UK"),)}),
    ("hreflang.relative", NONE, {}),
    ("hreflang.relative", PASS, {"alternates": (alternate("en"),)}),
    ("hreflang.relative", FAIL, {"alternates": (alternate("en", href="/page"),)}),
    ("hreflang.no_self", NONE, {}),
    ("hreflang.no_self", PASS, {"alternates": (alternate("en"),)}),
    ("hreflang.no_self", FAIL, {"alternates": (alternate("en", f"{HOST}/b"),)}),
    ("hreflang.no_xdefault", NONE, {}),
    ("hreflang.no_xdefault", PASS, {"alternates": (alternate("X-Default"),)}),
    ("hreflang.no_xdefault", FAIL, {"alternates": (alternate("en"),)}),
    ("hreflang.lang_mismatch", NONE, {"lang": "en"}),
    ("hreflang.lang_mismatch", PASS, {"lang": "en-GB", "alternates": (alternate("en"),)}),
    ("hreflang.lang_mismatch", FAIL, {"lang": "fr", "alternates": (alternate("en"),)}),
    ("links.too_many", PASS, {"links": links(*(f"{HOST}/{n}" for n in range(100)))}),
    ("links.too_many", FAIL, {"links": links(*(f"{HOST}/{n}" for n in range(101)))}),
    ("links.too_many", PASS, {"links": links(f"{HOST}/a") * 101}),
    ("links.nofollow", PASS, link()),
    ("links.nofollow", FAIL, link(nofollow=True)),
    ("links.nofollow", PASS, link(nofollow=True, url="https://b.example/")),
    ("links.uncrawlable", PASS, link()),
    ("links.uncrawlable", FAIL, link(url=None, href="javascript:go()")),
    ("links.uncrawlable", FAIL, link(url=None, href=None)),
    ("links.uncrawlable", PASS, link(url=None, href="#")),
    ("links.text", PASS, link(text="More of oaks")),
    ("links.text", FAIL, link(text="Read more …")),
    ("links.text", FAIL, link(text="Weiterlesen")),
    ("links.text", PASS, link(text="here", url=URL)),
    ("links.downgrade", PASS, link()),
    ("links.downgrade", FAIL, link(url="http://b.example/")),
    ("links.downgrade", PASS, link(url="http://localhost/")),
    ("links.localhost", PASS, link()),
    ("links.localhost", FAIL, link(url="http://127.0.0.1:80/")),
    ("links.localhost", FAIL, link(url="http://localhost/")),
    ("links.localhost", NONE, {**link(), "url": "http://localhost/", "links": ()}),
    ("links.pagination", NONE, {}),
    ("links.pagination", PASS, {**link(), "pagination": (f"{HOST}/b",)}),
    ("links.pagination", FAIL, {**link(), "pagination": (f"{HOST}/c",)}),
    ("img.alt", NONE, {}),
    ("img.alt", PASS, image(alt="")),
    ("img.alt", FAIL, image(alt=None)),
    ("img.alt_long", NONE, {}),
    ("img.alt_long", PASS, image(alt="x" * 100)),
    ("img.alt_long", FAIL, image(alt="x" * 101)),
    ("img.dimensions", NONE, {}),
    ("img.dimensions", PASS, image(sized=True)),
    ("img.dimensions", FAIL, image(sized=False)),
    ("img.picture", PASS, {}),
    ("img.picture", FAIL, {"pictures_without_img": 1}),
    ("schema.jsonld", NONE, {}),
    ("schema.jsonld", PASS, data("Product", "name")),
    ("schema.jsonld", FAIL, data("", error="Expecting value")),
    ("schema.required", NONE, data("WebSite", "name")),
    ("schema.required", NONE, data("Product")),
    ("schema.required", PASS, data("Product", "name", "review")),
    ("schema.required", FAIL, data("Product", "name")),
    ("schema.required", FAIL, data("Event", "name", "startDate")),
    ("social.og", PASS, social()),
    ("social.og", FAIL, social(twitter__card=None)),
    ("social.og", FAIL, social(og__image=None)),
    ("social.og", PASS, {**social(), **canonical(URL)}),
    ("social.og", FAIL, {**social(), **canonical(URL, url=f"{HOST}/b")}),
    ("social.og", PASS, social(**{"og__image:width": "1200", "og__image:height": "630"})),
    ("social.og", FAIL, social(**{"og__image:width": "1200", "og__image:height": "629"})),
    ("sec.https", PASS, {}),
    ("sec.https", FAIL, {"url": "http://a.example/"}),
    ("sec.mixed", PASS, {}),
    ("sec.mixed", FAIL, {"subresources": ("http://b.example/a.js",)}),
    ("sec.hsts", FAIL, {}),
    ("sec.hsts", PASS, headers(strict_transport_security="max-age=31536000")),
    ("sec.hsts", FAIL, headers(strict_transport_security="max-age=31535999")),
    ("sec.csp", FAIL, {}),
    ("sec.csp", PASS, headers(content_security_policy="default-src 'self'")),
    ("sec.csp", PASS, {"policy": "script-src 'none'"}),
    ("sec.csp", FAIL, headers(content_security_policy="img-src 'self'")),
    ("sec.csp", FAIL, headers(content_security_policy="script-src 'unsafe-inline'")),
    ("sec.csp", PASS, headers(content_security_policy="script-src 'unsafe-inline' 'nonce-a'")),
    ("sec.nosniff", FAIL, headers(x_content_type_options="sniff")),
    ("sec.nosniff", PASS, headers(x_content_type_options="NoSniff")),
    ("sec.framing", FAIL, {}),
    ("sec.framing", PASS, headers(x_frame_options="SAMEORIGIN")),
    ("sec.framing", FAIL, headers(x_frame_options="ALLOW-FROM https://b.example")),
    ("sec.framing", PASS, headers(content_security_policy="frame-ancestors 'none'")),
    ("sec.form", NONE, {}),
    ("sec.form", PASS, {"forms": (Form(URL, "post"),)}),
    ("sec.form", FAIL, {"forms": (Form("http://a.example/", "get"),)}),
    ("sec.cookies", NONE, {}),
    ("sec.cookies", PASS, {"cookies": (Cookie("a", True, True, "lax"),)}),
    ("sec.cookies", FAIL, {"cookies": (Cookie("a", False, True, "lax"),)}),
    ("sec.cookies", FAIL, {"cookies": (Cookie("a", True, False, "lax"),)}),
    ("sec.cookies", FAIL, {"cookies": (Cookie("a", True, True, ""),)}),
    ("sec.noopener", PASS, link(url="https://b.example/")),
    ("sec.noopener", FAIL, link(url="https://b.example/", unsafe_blank=True)),
    ("sec.noopener", PASS, link(unsafe_blank=True)),
    ("url.form", PASS, {"url": f"{HOST}/a-b/c"}),
    ("url.form", FAIL, {"url": f"{HOST}/a_b"}),
    ("url.form", FAIL, {"url": f"{HOST}/a%20b"}),
    ("url.form", FAIL, {"url": f"{HOST}/a//b"}),
    ("url.form", FAIL, {"url": f"{HOST}/Ab"}),
    ("url.form", FAIL, {"url": f"{HOST}/%C3%A4"}),
    ("url.form", PASS, {"url": f"{HOST}/{'a' * 82}"}),
    ("url.form", FAIL, {"url": f"{HOST}/{'a' * 83}"}),
    ("url.form", PASS, {"url": f"{HOST}/?a=1&b=2&c=3"}),
    ("url.form", FAIL, {"url": f"{HOST}/?a=1&b=2&c=3&d=4"}),
]  # fmt: skip


@each_row(
    (f"{check} {expected} {facts}", (check, expected, facts)) for check, expected, facts in CASES
)
def test_a_check_of_a_page(row: tuple[str, str, dict[str, Any]]) -> None:
    check, expected, facts = row
    assert of_page(check, **facts) == expected


def test_every_check_of_a_page_passes_and_fails_somewhere() -> None:
    seen = {(check, expected) for check, expected, _ in CASES}
    for check in catalogue():
        if check.scope is CheckScope.PAGE:
            assert {(check.id, PASS), (check.id, FAIL)} <= seen, check.id

"""Facts that are read from the response for a page."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from spinneret.audits.checks.reading import are_near
from spinneret.audits.facts.models import (
    Alternate,
    Cookie,
    HtmlFacts,
    HtmlForm,
    HtmlImage,
    Link,
    PageFacts,
    PageKind,
    ReadFailure,
    RobotsDirectives,
    Structured,
)
from spinneret.audits.facts.pages import read_page, unread_page
from spinneret.audits.facts.resources import srcset_urls
from spinneret.audits.facts.storing import PAGES
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import parse_url
from tests.rows import each_row
from tests.unit.audits.site import json_ld, words

URL = "https://example.com/docs/page"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def answer(body: str | bytes, **changes: Any) -> FetchedPage:
    values: dict[str, Any] = {
        "requested": parse_url(URL),
        "url": parse_url(URL),
        "status_code": 200,
        "headers": {},
        "media_type": "text/html",
        "charset": None,
        "body": body.encode() if isinstance(body, str) else body,
        "redirects": (),
        "duration_ms": 50,
        **changes,
    }
    return FetchedPage(**values)


def read(body: str | bytes, **changes: Any) -> PageFacts:
    return read_page(answer(body, **changes), NOW)[-1]


def html(body: str = "", head: str = "", **changes: Any) -> HtmlFacts:
    found = read(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", **changes)
    assert found.html is not None
    return found.html


def test_an_answer_is_a_page_under_its_own_address() -> None:
    page = read("<p>Text</p>", headers={"etag": '"1"', "server": "x"})
    assert (page.url, page.kind, page.status, page.size) == (URL, PageKind.HTML, 200, 11)
    assert page.headers == (("etag", '"1"'),)


def test_a_redirected_request_is_a_redirect_and_a_page() -> None:
    start = "http://example.com/old"
    got = answer("<p>Text</p>", requested=parse_url(start), redirects=(start,))
    redirect, page = read_page(got, NOW)
    assert (redirect.url, redirect.kind, redirect.final_url) == (start, PageKind.REDIRECT, URL)
    assert redirect.html is None
    assert (page.url, page.kind, page.redirects) == (URL, PageKind.HTML, ())


@pytest.mark.parametrize(
    ("changes", "kind", "failure"),
    [
        ({"status_code": 404}, PageKind.FAILED, None),
        ({"media_type": "application/pdf"}, PageKind.OTHER, None),
        ({"media_type": "application/xhtml+xml"}, PageKind.HTML, None),
        ({"body": b""}, PageKind.FAILED, ReadFailure.EMPTY),
        ({"body": b"<div>" * 3000}, PageKind.FAILED, ReadFailure.TOO_COMPLEX),
    ],
)
def test_what_a_url_turned_out_to_be(
    changes: dict[str, Any], kind: PageKind, failure: ReadFailure | None
) -> None:
    page = read(**{"body": b"<p>Text</p>", **changes})
    assert (page.kind, page.failure) == (kind, failure)


def test_a_url_without_an_answer() -> None:
    page = unread_page(URL, NOW, ReadFailure.TIMEOUT)
    assert (page.kind, page.status, page.failure) == (PageKind.FAILED, None, ReadFailure.TIMEOUT)


@pytest.mark.parametrize(
    ("body", "doctype"),
    [
        ("<!DOCTYPE html><p>a", "html"),
        ("\n<!-- a -->\n<!doctype HTML><p>a", "html"),
        (f"<!-- {'a' * 5000} --><!doctype html><p>a", "html"),
        ('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html><p>a', "html"),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x"><p>a',
         'html public "-//w3c//dtd xhtml 1.0//en" "x"'),
        ("<p>a", None),
    ],
)  # fmt: skip
def test_doctypes(body: str, doctype: str | None) -> None:
    found = read(body).html
    assert found is not None
    assert found.doctype == doctype


@pytest.mark.parametrize(
    ("changes", "declared"),
    [
        ({"charset": "utf-8"}, "header"),
        ({"body": b"\xef\xbb\xbf<p>a</p>"}, "bom"),
        ({"body": b"<meta charset=utf-8><p>a</p>"}, "meta"),
        (
            {"body": b'<meta http-equiv=content-type content="text/html; charset=utf-8"><p>a'},
            "meta",
        ),
        ({"body": b"<p>a</p>"}, None),
        ({"body": b'<meta property="og:url" content="/no-charset"><p>a</p>'}, None),
        ({"body": b"<!--" + b" " * 1020 + b"--><meta charset=utf-8><p>a</p>"}, None),
    ],
)
def test_where_the_encoding_is_declared(changes: dict[str, Any], declared: str | None) -> None:
    found = read(**{"body": b"<p>a</p>", **changes}).html
    assert found is not None
    assert found.charset == declared


def test_titles_of_drawings_are_not_the_page_s() -> None:
    found = html("<svg><title>Icon</title></svg>", "<title> A\n title </title><title></title>")
    assert found.titles == ("A title", "")


@pytest.mark.parametrize(
    ("element", "link"),
    [
        ('<a href="/a#b">A <b>text</b></a>', Link("https://example.com/a", None, "b", "A text")),
        ('<a href="#b%20c">A</a>', Link(URL, None, "b%20c", "A")),
        ('<a href="a"><img alt="An oak"></a>',
         Link("https://example.com/docs/a", None, "", "An oak")),
        ('<a href="a" aria-label="More of oaks">More</a>',
         Link("https://example.com/docs/a", None, "", "More of oaks")),
        ('<a href="javascript:go()">A</a>', Link(None, "javascript:go()", "", "A")),
        ('<a onclick="go()">A</a>', Link(None, None, "", "A")),
        ('<a href="http://u:p@h.example/">A</a>', Link(None, "http://…@h.example/", "", "A")),
        ('<a href="/a" rel="ugc">A</a>',
         Link("https://example.com/a", None, "", "A", nofollow=True)),
        ('<a href="/a" target="_blank">A</a>',
         Link("https://example.com/a", None, "", "A", unsafe_blank=True)),
        ('<a href="/a" target="_blank" rel="noreferrer">A</a>',
         Link("https://example.com/a", None, "", "A")),
    ],
)  # fmt: skip
def test_links(element: str, link: Link) -> None:
    assert html(element).links == (link,)


@pytest.mark.parametrize(
    "element",
    ['<a id="place"></a>', '<a name="x">x</a>', "<a></a>", '<a href="mailto:a@b.example">A</a>',
     '<a role="button">Buy</a>', '<a href="tel:1">Call</a>', '<a class="here">Oaks</a>',
     '<a href="/cdn-cgi/l/email-protection#4f2e">[email protected]</a>'],
)  # fmt: skip
def test_what_is_no_link(element: str) -> None:
    assert html(element).links == ()


def test_a_base_element_moves_relative_links() -> None:
    found = html('<a href="a">A</a><a href="/b">B</a>', '<base href="https://other.example/x/">')
    assert [link.url for link in found.links] == [
        "https://other.example/x/a",
        "https://other.example/b",
    ]


@pytest.mark.parametrize(
    ("element", "image"),
    [
        ('<img src="a.png" alt="An oak" width="1" height="1" loading="lazy">',
         HtmlImage("https://example.com/docs/a.png", "An oak", True, "lazy")),
        ('<img src="a.png">', HtmlImage("https://example.com/docs/a.png", None, False)),
        ('<img src="a.png" alt="" style="aspect-ratio: 1">',
         HtmlImage("https://example.com/docs/a.png", "", True)),
        ('<img data-src="a.png" aria-hidden="true" width="1" height="1">',
         HtmlImage("https://example.com/docs/a.png", "", True)),
        ('<img src="data:image/gif;base64,R0" aria-label="An oak" width="1" height="1">',
         HtmlImage(None, "An oak", True)),
        ('<img src="data:image/gif;base64,R0" data-src="a.png">',
         HtmlImage("https://example.com/docs/a.png", None, False)),
        ('<noscript><img src="a.png" width="1" height="1"></noscript>',
         HtmlImage("https://example.com/docs/a.png", "", True)),
        ('<img src="a.png" style="display: none">',
         HtmlImage("https://example.com/docs/a.png", "", True)),
        ('<img src="a.png" width="1" height="400">',
         HtmlImage("https://example.com/docs/a.png", None, True)),
    ],
)  # fmt: skip
def test_images(element: str, image: HtmlImage) -> None:
    assert html(element).images == (image,)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noindex, NoFollow", [RobotsDirectives("header", "robots", ("noindex", "nofollow"))]),
        ("bingbot: noindex, nofollow, otherbot: none",
         [RobotsDirectives("header", "bingbot", ("noindex", "nofollow")),
          RobotsDirectives("header", "otherbot", ("none",))]),
        ("max-snippet: 0", [RobotsDirectives("header", "robots", ("max-snippet:0",))]),
        ("unavailable_after: Sat, 25 Jun 2033 15:00:00 GMT, noindex",
         [RobotsDirectives("header", "robots",
                 ("unavailable_after:Sat, 25 Jun 2033 15:00:00 GMT", "noindex"))]),
        ("unavailable_after: 2033-06-25",
         [RobotsDirectives("header", "robots", ("unavailable_after:2033-06-25",))]),
        ("", []),
    ],
)  # fmt: skip
def test_robots_of_a_header(value: str, expected: list[RobotsDirectives]) -> None:
    assert list(html(headers={"x-robots-tag": value}).robots) == expected


def test_robots_elements_of_known_crawlers() -> None:
    found = html(
        head='<meta name="Robots" content="noindex"><meta name="otherbot" content="noindex">'
    )
    assert found.robots == (RobotsDirectives("meta", "robots", ("noindex",)),)


def test_languages_are_those_of_elements_and_header() -> None:
    found = html(
        head='<link rel="alternate" hreflang="de" href="/de">',
        headers={"link": '</fr>; rel="alternate"; hreflang="fr", </x>; rel=preload'},
    )
    assert found.alternates == (
        Alternate("de", "/de", "https://example.com/de"),
        Alternate("fr", "/fr", "https://example.com/fr"),
    )


def test_the_canonical_address_of_a_header() -> None:
    page = read("<p>a</p>", headers={"link": '</a>; rel="canonical"'})
    assert page.header_canonical == "https://example.com/a"


def test_cookies_are_kept_without_their_values() -> None:
    page = read(
        "<p>a</p>",
        headers={
            "set-cookie": "sid=secret; Expires=Wed, 21 Oct 2030 07:28:00 GMT; Secure; HttpOnly, "
            "theme=dark; SameSite=Lax"
        },
    )
    assert page.cookies == (
        Cookie("sid", secure=True, http_only=True, same_site=""),
        Cookie("theme", secure=False, http_only=False, same_site="lax"),
    )
    assert "secret" not in repr(page)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ({"@type": "Product", "name": "Oak", "offers": None},
         [Structured("json-ld", ("Product",), ("name",))]),
        ({"@graph": [{"@type": ["A", "https://schema.org/B"]}, {"@type": "C", "x": 1}]},
         [Structured("json-ld", ("A", "B")), Structured("json-ld", ("C",), ("x",))]),
        ([{"@type": "A", "author": {"@type": "Person", "name": "x"}}],
         [Structured("json-ld", ("A",), ("author",))]),
        ({"@type": "A", "dateModified": "2026-11-02"},
         [Structured("json-ld", ("A",), ("dateModified",), modified="2026-11-02")]),
        ({"@type": "Offer", "price": float("nan")}, [
            Structured("json-ld", error="NaN is not JSON"),
        ]),
        ({"@type": "A", "dateModified": 7}, [Structured("json-ld", ("A",), ("dateModified",))]),
        ([{"@type": "Product", "@id": "#oak", "name": "x"}, {"@type": "B", "@id": "#elm", "c": 1},
          {"@type": "Product", "@id": "#oak", "review": "y"}],
         [Structured("json-ld", ("Product",), ("name", "review")),
          Structured("json-ld", ("B",), ("c",))]),
    ],
)  # fmt: skip
def test_structured_data(script: object, expected: list[Structured]) -> None:
    found = html(f'<script type="application/ld+json">{json.dumps(script)}</script>')
    assert list(found.structured) == expected


@pytest.mark.parametrize(
    ("script", "types"),
    [
        (f'{{"@type": "Product", "price": {"9" * 5000}}}', ("Product",)),
        ('{"@type": ["A\\ud83d", 1], "\\ud800": 1, "dateModified": "\\ud83d"}', ("A?",)),
    ],
)
def test_structured_data_that_python_can_not_hold_are_read_and_stored(
    script: str, types: tuple[str, ...]
) -> None:
    page = read(f'<script type="application/ld+json">{script}</script>')
    stored = PAGES.load(PAGES.dump(page)).html
    assert stored is not None
    assert [each.types for each in stored.structured] == [types]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("", ""),
        ('<meta property="article:modified_time" content="2026-11-01">', "2026-11-01"),
        (json_ld(**{"@type": "A", "dateModified": "2026-11-02"}), "2026-11-02"),
        (
            '<meta property="article:modified_time" content="2026-11-01">'
            + json_ld(**{"@type": "A", "dateModified": "2026-11-02"}),
            "2026-11-01",
        ),
    ],
)
def test_a_page_may_say_when_it_was_changed(markup: str, expected: str) -> None:
    assert html(markup).modified == expected


def test_structured_data_that_can_not_be_read_say_why() -> None:
    [found] = html('<script type="application/ld+json">{"a": 1,}</script>').structured
    assert found.error.endswith("line 1 column 9")


@pytest.mark.parametrize(
    "script",
    ["//<![CDATA[\n{}\n//]]>", "/*<![CDATA[*/{}/*]]>*/", "<![CDATA[{}]]>", " {} "],
)
def test_a_cdata_section_around_structured_data_is_no_error(script: str) -> None:
    text = script.replace("{}", '{"@type": "Article", "headline": "Oak"}')
    found = html(f'<script type="application/ld+json">{text}</script>')
    assert found.structured == (Structured("json-ld", ("Article",), ("headline",)),)


@pytest.mark.parametrize(
    ("kind", "found"), [("Product", ["Product", "Offer"]), ("Event", ["Event"])]
)
def test_offers_of_products_are_items_of_their_own(kind: str, found: list[str]) -> None:
    data = f'{{"@type": "{kind}", "offers": [{{"@type": "Offer", "url": "/"}}, {{"@id": "#a"}}]}}'
    facts = html(f'<script type="application/ld+json">{data}</script>')
    assert [each.types[0] for each in facts.structured] == found


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ('<meta http-equiv="Refresh" content="0; URL=/oak">', "https://example.com/oak"),
        ("<meta http-equiv='refresh' content='5,url=\"/oak\"'>", "https://example.com/oak"),
        ('<meta http-equiv="refresh" content="0; /oak">', "https://example.com/oak"),
        ('<meta http-equiv="refresh" content="30">', ""),
        ('<meta http-equiv="refresh" content="30; ">', ""),
        ('<noscript><meta http-equiv="refresh" content="0;url=/plain"></noscript>', ""),
    ],
)
def test_a_refresh_is_read_with_its_target(head: str, target: str) -> None:
    assert html(head=head).refresh == target


@pytest.mark.parametrize(
    "markup",
    [
        '<img srcset="/a.png 1x, http://cdn.example/a.png 2x" alt="">',
        '<picture><source srcset="http://cdn.example/a.png"><img src="/a.png" alt=""></picture>',
        "<p style=\"background: url( 'http://cdn.example/a.png' )\">Oak</p>",
        "<style>p { background: url(http://cdn.example/a.png) }</style>",
        '<video poster="http://cdn.example/a.png"></video>',
        '<frameset><frame src="http://cdn.example/a.png"></frameset>',
        '<input type="image" src="http://cdn.example/a.png" alt="Go">',
    ],
)
def test_resources_by_http_are_found_in_sets_and_styles(markup: str) -> None:
    assert html(markup).subresources == ("http://cdn.example/a.png",)
    assert html(markup.replace("http:", "https:")).subresources == ()


def test_a_srcset_is_read_on_every_page() -> None:
    markup = '<img srcset="http://cdn.example/a.png 2x" alt="">'
    assert [html(markup).subresources for _ in range(2)] == [("http://cdn.example/a.png",)] * 2


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('<h1><img src="/a.png" alt="Oaks"></h1>', "Oaks"),
        ('<h1 aria-label="Oaks"><svg></svg></h1>', "Oaks"),
        ('<h1><img src="/a.png" alt=""></h1>', ""),
    ],
)
def test_a_heading_is_read_as_screen_readers_read_it(markup: str, text: str) -> None:
    assert [each.text for each in html(markup).headings] == [text]


@pytest.mark.parametrize(
    "inside",
    [
        '<img src="/a.png" alt="Oaks">',
        '<svg aria-label="x"><title>Oaks</title></svg>',
        '<img src="/a.png" aria-label="Oaks">',
        '<svg role="img" aria-label="Oaks"><path/></svg>',
        '<i role="img" aria-label="Oaks"></i>',
    ],
)
def test_a_link_may_have_another_name_than_text(inside: str) -> None:
    assert [each.text for each in html(f'<a href="/oak">{inside}</a>').links] == ["Oaks"]


def test_a_link_and_an_image_may_be_labelled_by_another_element() -> None:
    labelled = '<b id="oak">Oaks</b><a href="/oak" aria-labelledby="oak"><i></i></a>'
    assert [each.text for each in html(labelled).links] == ["Oaks"]
    named = '<b id="oak">Oaks</b><img src="/oak" aria-labelledby="oak">'
    assert [each.alt for each in html(named).images] == ["Oaks"]


LABELLED = '<a href="/{}" aria-labelledby="b c d e f"><i></i></a>'
# A naive parser or pattern would need minutes or years for each of these.
HOSTILE = [
    ("comments without a doctype", "<!--a-->" * 10_000 + "<p>Oak"),
    ("blanks of a doctype", f"<!doctype{' ' * 200_000}<p>Oak"),
    ("blanks of a refresh", f'<meta http-equiv="refresh" content="{" " * 100_000}x"><p>Oak'),
    ("blanks of JSON", f'<script type="application/ld+json">{{{" " * 500_000}}}</script><p>Oak'),
    ("attributes", f"<p {' '.join(f'a{n}' for n in range(50_000))}>Oak"),
    *(
        (f"nested {tag}", f"<{tag}>" * 1_000 + "<b itemprop=name></b> " * 15_000 + "Oak")
        for tag in ("a href=/a", "h1", "div style=font-size:0", "div itemscope itemtype=/A")
    ),
    ("labels", "<p>Oak" + "<b id=a></b>" * 10_000 + "".join(map(LABELLED.format, range(3_000)))),
]


@pytest.mark.heavy
@each_row(HOSTILE)
def test_hostile_markup_is_read_in_linear_time(row: str) -> None:
    found = read(row).html
    assert found is not None
    assert found.text.words == 1


def test_a_link_in_a_link_ends_it_as_in_browsers() -> None:
    markup = '<a name="top"><h2>Trees</h2><p><a href="/oak">Oak</a></p><a href="/ash">Ash</a>'
    assert [each.text for each in html(markup).links] == ["Oak", "Ash"]
    markup = '<a href="/top">Top<div><a href="/oak">Oak</a></div>of all</a>'
    assert [each.text for each in html(markup).links] == ["Topof all", "Oak"]


def test_a_canonical_address_in_the_body_does_not_count() -> None:
    link = '<link rel="canonical" href="https://shop.example/oak">'
    assert html("Oak", link).canonicals
    assert not html(f"<p>Oak</p>{link}").canonicals


@pytest.mark.parametrize("rest", ["", '<frameset><frame src="/a"><frame src="/b"></frameset>'])
def test_a_document_without_a_body_has_its_metadata_in_the_head(rest: str) -> None:
    head = '<title>Oak</title><link rel="canonical" href="https://shop.example/oak">'
    found = read(f'<html><head>{head}<meta name="robots" content="x"></head>{rest}</html>').html
    assert found is not None
    assert [each.url for each in found.canonicals] == ["https://shop.example/oak"]
    assert (found.body_metas, found.text.words) == ((), 0)


def test_the_content_of_a_template_is_no_part_of_the_page() -> None:
    content = '<h1 id="a">Ash</h1><a href="/ash">Ash</a><img src="/ash.png">'
    found = html(f'<h1 id="a">Oak</h1><template>{content}</template>')
    assert [each.text for each in found.headings] == ["Oak"]
    assert (found.links, found.images, found.duplicate_ids) == ((), (), ())
    assert html(f'<template shadowrootmode="open">{content}</template>').links


def test_near_texts_have_near_signatures_and_short_ones_none() -> None:
    for seed in range(20):
        text = words(400, seed)
        others = (f"All about oaks {text} oak", words(400, seed + 20))
        one, two, other = (html(f"<p>{each}</p>").text.signature for each in (text, *others))
        assert are_near(one, two), seed
        assert not are_near(one, other), seed
    assert html(f"<p>{words(99, 3)}</p>").text.signature == ""


def test_microdata_belong_to_the_nearest_thing() -> None:
    found = html(
        '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Oak</b>'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        '<b itemprop="price">1</b></div></div>'
    )
    assert found.structured == (
        Structured("microdata", ("Product",), ("name", "offers")),
        Structured("microdata", ("Offer",), ("price",)),
    )


def test_metadata_in_the_body() -> None:
    found = html('<meta name="robots" content="x"><meta itemprop="a" content="b">'
                 '<meta property="position" content="1"><meta property="og:title" content="Oak">'
                 '<link rel="canonical" href="/"><link rel="stylesheet" href="/a">')  # fmt: skip
    assert found.body_metas == ("meta robots", "meta og:title", "link canonical")


def test_forms_and_parts_that_come_by_http() -> None:
    found = html(
        '<form action="http://a.example/" method="POST"><input type="password"></form><form></form>'
        '<img src="http://a.example/i"><script src="/s"></script>',
        '<link rel="stylesheet" href="http://a.example/c"><link rel="next" href="http://n.example">',
    )
    assert found.forms == (HtmlForm("http://a.example/", "post", True), HtmlForm(URL, "get"))
    assert found.subresources == ("http://a.example/i", "http://a.example/c")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<p>One two</p><script>var three</script><svg><text>four</text></svg>", 2),
        ("<noscript>One</noscript><template>two</template><p>three</p>", 1),
        ("<p>東京 タワー</p>", 5),
        ("<p>don't</p>", 2),
        ("", 0),
    ],
)
def test_words_that_a_reader_sees(body: str, words: int) -> None:
    assert html(body).text.words == words


def test_texts_are_alike_whatever_their_markup() -> None:
    assert html("<p>One <b>two</b></p>").text.fingerprint == html("<i>one two</i>").text.fingerprint
    assert html("<p>one two</p>").text.fingerprint != html("<p>two one</p>").text.fingerprint


def test_the_top_term_is_no_stop_word_and_stands_outside_links() -> None:
    text = html(f"<p>{'with ' * 9}{'oaks ' * 5}</p><a href='/'>{'pines ' * 9}</a>").text
    assert (text.top_term, text.top_count, text.prose_words) == ("oaks", 5, 14)


@pytest.mark.parametrize(
    ("text", "count"),
    [("It\ufffds", 1), ("caf\u00c3\u00a9", 1), ("it\u00e2\u20ac\u2122s", 1), ("café São Ãrea", 0)],
)
def test_broken_characters(text: str, count: int) -> None:
    found = html(f"<p>{text}</p>", charset="utf-8").text
    assert found.broken_characters == count


@pytest.mark.parametrize(
    ("style", "hidden"),
    [("font-size:0", True), ("text-indent: -9999px", True), ("left:-5000px", True),
     ("font-size:0.9em", False), ("display:none", False), ("left:-10px", False)],
)  # fmt: skip
def test_text_out_of_sight(style: str, hidden: bool) -> None:
    found = html(f'<p style="{style}">{"words of a text " * 3}</p><p>Seen</p>')
    assert bool(found.text.hidden) is hidden


def test_anchors_and_ids_that_come_twice() -> None:
    found = html('<i id="a"></i><i id="a"></i><a name="b">x</a><i id="c"></i>')
    assert (found.anchors, found.duplicate_ids) == (("a", "c", "b"), ("a",))


def test_elements_and_depth_are_counted() -> None:
    found = html("<div>" * 40 + "</div>" * 40)
    assert (found.elements, found.depth) == (43, 42)


def test_deep_pages_are_measured_to_their_ground() -> None:
    assert html("<div>" * 1500).depth == 1502


def test_more_links_than_are_kept_are_counted() -> None:
    found = html("".join(f'<a href="/{n}">n</a>' for n in range(3001)))
    assert (len(found.links), found.left_out) == (3000, 1)


@pytest.mark.parametrize(
    ("srcset", "urls"),
    [
        ("", []),
        (" , ", []),
        ("a.jpg", ["a.jpg"]),
        ("a.jpg 1x, b.jpg 2x", ["a.jpg", "b.jpg"]),
        ("a.jpg, b.jpg 2x", ["a.jpg", "b.jpg"]),
        ("a,b.jpg 480w,\n c.jpg\t800w ,", ["a,b.jpg", "c.jpg"]),
        ("data:image/png;base64,AA== 1x, b.jpg 2x", ["data:image/png;base64,AA==", "b.jpg"]),
    ],
)
def test_the_candidates_of_a_srcset_are_its_urls(srcset: str, urls: list[str]) -> None:
    assert list(srcset_urls(srcset)) == urls

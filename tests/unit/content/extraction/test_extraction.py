"""Results of extraction: markdown, title, metadata, language and links."""

import json
import sys
import time
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest

from spinneret.content.extraction.markdown import to_markdown
from spinneret.content.extraction.markup import parse_html
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.pages import extract
from spinneret.content.extraction.regions import content_regions
from spinneret.kernel.errors import ContentRefused
from tests.rows import each_row

URL = "https://example.com/docs/page.html"
SENTENCE = "This is a sentence with several plain words, as articles have them. "


def page(body: str, head: str = "", attributes: str = "") -> str:
    return f"<!DOCTYPE html><html {attributes}><head>{head}</head><body>{body}</body></html>"


def read(body: str, head: str = "", attributes: str = "") -> Content:
    return extract(page(body, head, attributes), "text/html", URL)


def json_ld(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def meta(name: str, value: str) -> str:
    return f'<meta name="{name}" content="{value}">'


def og(name: str, value: str) -> str:
    return f'<meta property="{name}" content="{value}">'


# covers C-03
@each_row(
    (ascii(row), row)
    for row in [
        ("<h1>A</h1><h3> B <b>c</b>\n d</h3>", "# A\n\n### B c d"),
        ("<p>a <b>b</b> <i>c</i> <del>d</del></p>", "a **b** *c* ~~d~~"),
        ("<p>a<b> b </b>c <b><b>d</b></b></p>", "a **b** c **d**"),
        ("<p>use <code>x  = `1`</code></p>", "use `` x = `1` ``"),
        (
            "<pre><code class='language-py'>if a:\n\n  b()</code></pre>",
            "```py\nif a:\n\n  b()\n```",
        ),
        ("<pre>a<br>``` b</pre>", "````\na\n``` b\n````"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol><li>a</li><li><p>b</p><p>c</p></li></ol>", "1. a\n2. b\n\n   c"),
        ("<ol start=5><li>a<li value=9>b<li>c</ol>", "5. a\n9. b\n10. c"),
        ("<ul><li>a<ol start=3><li>b</ol></ul>", "- a\n  3. b"),
        ("<ol start=-3><li value=x>a</ol>", "1. a"),
        ("<ul><li><h3>Card</h3><p>text</p></li></ul>", "### Card\n\ntext"),
        ("<ul>a<li>b</li>c<li>d</li>e</ul>", "a\n\n- b\n  c\n- d\n  e"),
        ("<ul><script></script>a<li>b</ul>", "a\n\n- b"),
        ("<table>a<tr>b<td>c<td>d</td>e</tr></table>", "a\n\nb\n\ne\n\n| c | d |\n| --- | --- |"),
        (
            "<table><tr><td>a<td>b<tr><form><td>c<td>d</form></table>",
            "c\n\nd\n\n| a | b |\n| --- | --- |",
        ),
        (
            "<table><tr><th>a</th><th>b|c</th></tr><tr><td>1<br>2</td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 2 |",
        ),
        ("<table><tr><td><p>layout</p></td></tr></table>", "layout"),
        ("<blockquote>a<p>b</p></blockquote>", "> a\n>\n> b"),
        (
            '<div class="admonition tip"><p class="admonition-title">Tip</p><p>a</p></div>',
            "> Tip\n>\n> a",
        ),
        (
            (
                '<div role="tablist"><button role="tab" id="t1">pip</button>'
                '<button role="tab" id="t2">uv</button></div>'
                '<div role="tabpanel" aria-labelledby="t1"><pre>pip install a</pre></div>'
                '<div role="tabpanel" aria-labelledby="t2"><pre>uv add a</pre></div>'
            ),
            "**pip**\n\n```\npip install a\n```\n\n**uv**\n\n```\nuv add a\n```",
        ),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>a<br>b\n c</p>", "a\nb c"),
        (
            '<p>see <a href="/x (1)">the <b>site</b></a>!</p>',
            "see [the **site**](https://example.com/x%20%281%29)!",
        ),
        ('<p><a href="javascript:alert(1)">a</a> <a href="#top">b</a></p>', "a b"),
        (
            '<p>a <img alt="A [map]" src="/m.png"></p>',
            "a ![A \\[map\\]](https://example.com/m.png)",
        ),
        ('<p>a <img alt="" src="/m.png"></p>', "a"),
        (
            '<a href="/card"><h3>Card</h3><p>text</p></a>',
            "### [Card](https://example.com/card)\n\ntext",
        ),
        ("<p>10<sup>6</sup> x<sup>n + 1</sup> 1<sup>st</sup></p>", "10^6 x^(n + 1) 1st"),
        ('<p>so <math alttext="a^2"><mi>a</mi><mn>2</mn></math></p>', "so $a^2$"),
        (
            (
                "<math> <mfrac><mn>1</mn><mn>2</mn></mfrac><mo>=</mo><msup><mi>x</mi> <mn>2</mn>"
                "</msup><mtext> if </mtext><msubsup><mi>y</mi><mi>i</mi><mn>3</mn></msubsup></math>"
            ),
            "1/2=x^2 if y_i^3",
        ),
        (
            "<p><math><msqrt><mi>a</mi><mo>+</mo><mn>1</mn></msqrt><mfrac>b</mfrac></math>",
            "\u221a(a+1)b",
        ),
        ("<p><ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>に", "東京(とうきょう)に"),
        ("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "漢(かん)字"),
        ("<p><span>Ann Lee</span><span>Editor</span><span>s</span>", "Ann Lee Editors"),
        ("<p>i<span>Phone</span> <span>S</span><span>pider</span>", "iPhone Spider"),
        (
            "<div><a href=/a>a</a><a href=/b>b</a></div>",
            "[a](https://example.com/a) [b](https://example.com/b)",
        ),
        ("<p>he said <q>yes</q><q></q>", 'he said "yes"'),
        ("<h2>a<a href='#a'>¶</a></h2><h3><a href='#b'><i>#</i></a>b</h3>", "## a\n\n### b"),
        (
            "<p>a<a href='#a'>*</a> b<a href='#b'>1</a> c<a href='/c'>…</a>",
            "a* b1 c[…](https://example.com/c)",
        ),
        ("<div role=heading aria-level=3>a</div><b role=heading>b</b>", "### a\n\n**b**"),
        ("<div><span role=heading>a</span>b</div>", "## a\n\nb"),
        ("<div role=heading><p>a comment</p></div>", "a comment"),
        (
            (
                "<div role=table><div role=rowgroup><div role=row><b role=columnheader>a</b>"
                "<span role=columnheader>b</span></div></div><div role=row><span role=rowheader>c"
                "</span><span role=cell>d</span></div></div>"
            ),
            "| a | b |\n| --- | --- |\n| c | d |",
        ),
        ("<h2><button>Question</button></h2><p>answer</p>", "## Question\n\nanswer"),
        ("<button><h2>Question</h2></button><p>answer</p>", "## Question\n\nanswer"),
        (
            (
                "<div class='highlight-source-py'><div>Copy</div><pre>"
                "<span class='lineno'>1</span>a = 1<button>Copy</button></pre></div>"
            ),
            "```py\na = 1\n```",
        ),
        (
            "<table><tr><td class='gutter'><pre>1</pre></td><td><pre>a</pre></td></tr></table>",
            "```\na\n```",
        ),
        (
            "<table><tr><td class=lineno>1<td><pre>a</pre><tr><td class=lineno>2<td><pre>b</table>",
            "```\na\nb\n```",
        ),
        ("<pre><ol><li>a<li><b>b</b></ol>c</pre>", "```\na\nb\nc\n```"),
        ("<pre><div>a\n</div><div>b</div>\n<div>c</div></pre>", "```\na\nb\nc\n```"),
        (
            (
                "<table><tr><th colspan=2>a</th><th>b</th></tr>"
                "<tr><td rowspan=2>c</td><td>1</td><td>2</td></tr>"
                "<tr><td>3</td><td>4</td></tr></table>"
            ),
            "| a |  | b |\n| --- | --- | --- |\n| c | 1 | 2 |\n| c | 3 | 4 |",
        ),
        ("<p>e\u0301 so\u00adft</p>", "\u00e9 soft"),
        ("<p>\u202bשל\u05d5ם\u202c\u200e", "של\u05d5ם"),
        ("<p>a</p><script>b()</script><style>c{}</style><template>d</template>", "a"),
    ]
)
def test_structure_becomes_markdown(row: tuple[str, str]) -> None:
    body, markdown = row
    assert read(body).markdown == markdown


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>", "\\<script>alert(1)\\</script>"),
        ("<p>\\&lt;b&gt;</p>", "\\\\\\<b>"),
        ("<p>a&lt;<span>script&gt;</span></p>", "a\\<script>"),
        ("<p>a \\<span>&lt;b&gt;</span></p>", "a \\\\\\<b>"),
        ("<p>1 &lt; 2, a &lt;3</p>", "1 < 2, a <3"),
        ("<p>[a](javascript:b)</p>", "[a\\](javascript:b)"),
        ("<p>[a]<span>(javascript:b)</span></p>", "[a\\](javascript:b)"),
        ("<p>[a]: javascript:b</p>", "[a\\]: javascript:b"),
        ('<p onclick="a()">b <a href="javascript:c">d</a></p>', "b d"),
        ('<p>a <img src="x" onerror="b()"> c</p>', "a c"),
        ("<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p>", "\\# a\n\n1\\. b\n\n\\- c\n\n\\> d"),
        ("<p>```</p><p>| a |</p><p>a<br>---</p>", "\\```\n\n\\| a |\n\na\n\\---"),
    ],
)
def test_text_never_becomes_markup(body: str, markdown: str) -> None:
    assert read(body).markdown == markdown


@pytest.mark.parametrize(
    "chrome",
    [
        "<nav>Home Products</nav>",
        "<footer>Imprint and more</footer>",
        "<header>Name of the site</header>",
        '<div role="navigation">Home Products</div>',
        '<div class="cookie-banner">We use cookies</div>',
        '<div id="siteHeader">Name of the site</div>',
        '<a class="skip-link">Skip to content</a>',
        '<div style="display: none">hidden</div>',
        "<p hidden>hidden</p>",
        "<form><select><option>one</select><button>Buy</button></form>",
        "<ul><li><a>One</a><li><a>Two</a><li><a>Three</a></ul>",
        "<noscript>Turn it on</noscript>",
    ],
)
def test_chrome_is_left_out(chrome: str) -> None:
    content = f"<h1>Reference</h1><p>{SENTENCE}</p><p>Another paragraph, after the first.</p>"

    assert read(chrome + content).markdown == read(content).markdown


@pytest.mark.parametrize(
    "wrapper",
    [
        '<div class="header">{}</div>',
        '<div id="sidebar-layout"><div class="nav">{}</div></div>',
        "<noscript>{}</noscript>",
        '<div style="visibility:hidden">{}</div>',
    ],
)
def test_a_name_of_chrome_around_everything_does_not_empty_the_page(wrapper: str) -> None:
    assert SENTENCE.strip() in read(wrapper.format(f"<p>{SENTENCE}</p>")).markdown


def test_the_main_part_is_taken_when_it_holds_enough() -> None:
    body = f"<div>Around it</div><main><p>{SENTENCE}</p></main>"

    assert read(body).markdown == SENTENCE.strip()


def test_an_empty_main_part_is_not_believed() -> None:
    body = f"<main><p>Loading</p></main><div><p>{SENTENCE * 3}</p></div>"

    assert SENTENCE.strip() in read(body).markdown


def test_a_paragraph_that_is_repeated_occurs_once() -> None:
    body = f"<p>{SENTENCE}</p><p>42</p><p>{SENTENCE}</p><p>42</p>"

    assert read(body).markdown == f"{SENTENCE.strip()}\n\n42\n\n42"


ARTICLE = "".join(f"<p>Paragraph {number}. {SENTENCE * 4}</p>" for number in range(8))
TEASERS = "".join(
    f'<div class="card"><a href="/{number}">Other story number {number} of this site</a>'
    "<span>5 min</span></div>"
    for number in range(12)
)
STORY = f"<article><h1>Story</h1>{ARTICLE}</article>"
ARTICLE_PAGE = f"<div>{STORY}<section>{TEASERS * 3}</section></div>"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (og("og:type", "article"), ARTICLE_PAGE),
        (json_ld({"@graph": [{"@type": ["NewsArticle"]}]}), ARTICLE_PAGE),
        (json_ld({"@type": "http://schema.org/Product"}), ARTICLE_PAGE),
        ("", f"<div>{STORY}<section>{TEASERS}</section></div>"),
    ],
    ids=["og:type", "article", "product", "mostly prose"],
)
def test_a_page_of_one_text_loses_its_teasers(head: str, body: str) -> None:
    found = read(body, head).markdown

    assert all(f"Paragraph {number}." in found for number in range(8))
    assert "Other story" not in found


def test_a_list_of_stories_keeps_them() -> None:
    assert read(f"<h1>Stories</h1>{TEASERS}").markdown.count("Other story") == 12


def test_a_thread_is_no_article_even_if_it_says_so() -> None:
    posts = "".join(f'<li class="comment"><p>Post {n}. {SENTENCE}</p></li>' for n in range(5))
    body = f'<article><p>Question. {SENTENCE * 9}</p></article><ol id="comments">{posts}</ol>'
    head = og("og:type", "article") + json_ld({"@type": "QAPage"})

    assert read(body, head).markdown.count("Post ") == 5


def test_a_thread_is_its_posts_without_cards_dates_signatures_and_buttons() -> None:
    posts = "".join(
        f'<article class="message"><div class="message-user">Reputation {n}</div>'
        f'<div class="message-attribution">Jan {n + 1}, 2026</div><p>Post {n}. {SENTENCE}</p>'
        f'<aside class="message-signature">Sent from afar {n}</aside>'
        f'<ul class="post-buttons"><li>Quote this {n}</ul></article>'
        for n in range(5)
    )
    found = read(f"<main>{posts}</main>", json_ld({"@type": "DiscussionForumPosting"})).markdown

    assert found.count("Post ") == 5
    assert not any(word in found for word in ("Reputation", "Jan ", "Sent from", "Quote"))


def test_a_name_of_a_card_around_the_posts_does_not_empty_the_thread() -> None:
    posts = "".join(f"<article><p>Post {n}. {SENTENCE}</p></article>" for n in range(5))
    head = json_ld({"@type": "DiscussionForumPosting"})

    assert read(f'<main class="userinfo">{posts}</main>', head).markdown.count("Post ") == 5


def test_an_article_extraction_that_finds_next_to_nothing_is_not_taken() -> None:
    body = f"<article><p>Short.</p></article>{TEASERS * 3}"

    assert "Other story" in read(body, og("og:type", "article")).markdown


MARK = "Marked words of this part"
REFERENCE = f"<h1>Reference</h1><p>{SENTENCE * 9}</p>"
LISTED = "".join(f'<li><a href="/t{n}">{MARK}: thread {n} about silk</a></li>' for n in range(4))


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(f'<div class="layout with-ads"><p>{MARK}</p></div>', id="with-ads"),
        pytest.param(f'<div class="accordion_drawer"><p>{MARK}</p></div>', id="a drawer"),
        pytest.param(f'<div class="teaser__4ad-ad"><p>{MARK}</p></div>', id="a hash"),
        pytest.param(f"<ul>{LISTED}</ul>", id="a list of threads"),
    ],
)
def test_what_only_looks_like_chrome_is_kept_by_the_rules(part: str) -> None:
    found = content_regions(parse_html(f"<body>{REFERENCE}{part}</body>").find("body"))
    assert MARK in to_markdown(found.root, found.left_out)


COMMENTS = "".join(
    f'<div class="comment"><p>{MARK} {n}, says a reader.</p></div>' for n in range(6)
)
MORE = "".join(f'<div><a href="/{n}">{MARK} {n}</a></div>' for n in range(6))


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(f'<div class="header_nav__x7yz1">{MARK}</div>', id="a name with a hash"),
        pytest.param(f'<section id="comments">{COMMENTS}</section>', id="comments"),
        pytest.param(f'<div class="cookie-consent"><p>{MARK}</p></div>', id="consent"),
        pytest.param(f"<form><label>{MARK}</label><input></form>", id="a form"),
        pytest.param(f'<section class="more">{MORE}</section>', id="more from"),
    ],
)
def test_what_stands_beside_an_article_is_left_out(part: str) -> None:
    found = read(f"{part}<main>{STORY}</main>").markdown
    assert MARK not in found
    assert found.count("Paragraph ") == 8


def test_what_an_engine_leaves_out_is_gone_even_directly_beside_the_content() -> None:
    skip, line = '<a href="#story">Skip to content</a>', "<i>Follow us</i><br><b>Print</b>"
    found = read(f"{skip}{STORY}{line}").markdown

    assert found.startswith("Paragraph 0.")
    assert not any(words in found for words in ("Skip", "Follow", "Print"))


def test_an_element_of_a_line_with_other_text_stays_in_it() -> None:
    assert "All about **silk**" in read(f"All about <b>silk</b>{STORY}").markdown


@pytest.mark.parametrize(
    "overlay",
    ['<div class="modal">', '<div role="dialog">', '<div aria-modal="true">', "<dialog>"],
)
def test_the_main_part_is_none_of_a_dialogue_above_the_page(overlay: str) -> None:
    body = f"{overlay}<main><p>{MARK} {SENTENCE * 36}</p></main></div></dialog><main>{STORY}</main>"
    regions = content_regions(parse_html(f"<body>{body}</body>").find("body"))
    assert regions.root.findtext(".//h1") == "Story"


@pytest.mark.parametrize("og_type", ["article", "Article", "ARTICLE"])
def test_a_listing_that_calls_itself_an_article_keeps_its_stories(og_type: str) -> None:
    found = read(f"<h1>Stories</h1>{TEASERS}", og("og:type", og_type)).markdown
    assert found.count("Other story") == 12


def test_a_chapter_about_page_furniture_is_no_page_furniture() -> None:
    chapters = "".join(
        f'<section id="{name.lower()}"><h2>{name}</h2><p>{name}: {SENTENCE * 4}</p></section>'
        for name in ("Windows", "Menus", "Navigation", "Related", "Keys")
    )
    found = read(f"<main><h1>The editor</h1><p>{SENTENCE * 4}</p>{chapters}</main>")
    for name in ("Menus", "Navigation", "Related"):
        assert f"{name}: This is" in found.markdown


def test_code_and_tables_of_an_article_stay_whole() -> None:
    code = "<pre><code>def f():\n\n    return 1\n</code></pre>"
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"

    found = read(f"<article>{ARTICLE}{code}{table}{ARTICLE}</article>", og("og:type", "article"))

    assert "```\ndef f():\n\n    return 1\n```" in found.markdown
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in found.markdown


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        (og("og:title", "Open  graph") + "<title>T</title>", "<h1>H</h1>", "Open graph"),
        ("<title>\n T t </title>", "<h1>H</h1>", "T t"),
        ("<title> </title>", "<h1>H <b>h</b></h1><h1>I</h1>", "H h"),
        ("", "<svg><title>Icon</title></svg>", None),
        ("<title>" + "x" * 5000 + "</title>", "<h1>H</h1>", "H"),
    ],
)
def test_the_title_is_the_first_usable_one(head: str, body: str, title: str | None) -> None:
    assert read(f"{body}<p>text</p>", head).title == title


AUTHORED = {"@type": "Article", "author": [{"name": "Ann"}, {"name": "Bob"}]}


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        (json_ld(AUTHORED) + meta("author", "Cy"), "", "Ann, Bob"),
        (json_ld([{"@type": "WebPage", "author": "Ann"}]), "", "Ann"),
        (json_ld({"@type": "Review", "author": "Reader"}) + meta("author", "Cy"), "", "Cy"),
        (json_ld({"author": "https://example.com/ann"}), "", None),
        (json_ld({"author": "Ann \ud83d"}), "", "Ann ?"),  # half an emoji, which no store accepts
        (json_ld({"author": "Ann", "id": 1}).replace("1", "1" * 5000), "", "Ann"),
        ('<script type="application/ld+json">{broken</script>' + meta("author", "Cy"), "", "Cy"),
        (meta("author", "Cy"), "<span itemprop=author>Ann</span>", "Ann"),
        ("", "<div itemtype=Comment><i itemprop=author>Reader</i></div>", None),
        (og("article:author", "https://social.example/cy"), "", None),
    ],
)
def test_the_author_comes_from_structured_data_then_meta(
    head: str, body: str, author: str | None
) -> None:
    assert read(f"{body}<p>text</p>", head).metadata.author == author


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        (
            json_ld({"datePublished": "2024-03-01T10:00:00Z"}) + meta("date", "2023-01-01"),
            '<time datetime="2022-01-01">',
            "2024-03-01T10:00:00+00:00",
        ),
        (
            og("article:published_time", "2024-03-01T10:00:00+02:00"),
            "",
            "2024-03-01T10:00:00+02:00",
        ),
        (meta("date", "2023-01-01"), '<time datetime="2022-01-01">', "2023-01-01"),
        ("", '<time datetime="2022-01-01">', "2022-01-01"),
        ("", '<i itemprop="datePublished" content="2021/5/4"></i>', "2021-05-04"),
        (meta("pubdate", "Fri, 01 Mar 2024 10:00:00 GMT"), "", "2024-03-01T10:00:00+00:00"),
        (meta("date", "March 5, 2024"), "", "2024-03-05"),
        (meta("date", "5th Mar. 2024"), "", "2024-03-05"),
        (meta("date", "yesterday"), '<time datetime="2022-01-01">', "2022-01-01"),
        (meta("date", "0001-01-01T00:00:00"), "", None),
        (json_ld({"@type": "Comment", "datePublished": "2024-03-01"}), "", None),
        ("", '<time datetime="2022-01-01"></time><h1>Silk</h1><p>March 5, 2024</p>', "2022-01-01"),
    ],
)
def test_the_date_comes_from_structured_data_then_meta_then_time(
    head: str, body: str, published: str | None
) -> None:
    assert read(f"{body}<p>text</p>", head).metadata.publish_date == published


@pytest.mark.parametrize(
    ("body", "published"),
    [
        ("<h1>Silk</h1><p>March 5, 2024</p>", "2024-03-05"),
        ("<h1>Silk</h1><p>By <b>Ada</b> | <i>Published on Tuesday, 5 March 2024</i>", "2024-03-05"),
        ("<h1>Silk</h1><p>Posted: 2024-03-05 at 10:30 am · 5 min read</p>", "2024-03-05"),
        ("<p>5 Mar 2024</p><h1>Silk</h1>", "2024-03-05"),
        ("<h1>Silk</h1><p>Updated March 5, 2024</p>", None),
        ("<h1>Silk</h1><p>The sale ends on March 5, 2024, at noon.</p>", None),
        ("<h1>Silk</h1>" + "<p>Spiders weave.</p>" * 30 + "<p>March 5, 2024</p>", None),
        ("<p>March 5, 2024</p>" + "<p>Spiders weave.</p>" * 30 + "<h1>Silk</h1>", None),
        ("<h1>Silk</h1><script>March 5, 2024</script>", None),
        ("<p>March 5, 2024</p>", None),
        ("<h1>Silk</h1><p>02/03/2024</p>", None),
    ],
)  # fmt: skip
def test_a_date_beside_the_heading_is_the_last_that_is_taken(
    body: str, published: str | None
) -> None:
    assert read(f"{body}<p>text</p>").metadata.publish_date == published


# covers C-03
def test_the_rest_of_the_metadata() -> None:
    head = (
        meta("description", " What it\n is ")
        + og("og:description", "other")
        + meta("keywords", "a, b ,,a;c")
        + og("og:image", "/i.png")
        + '<link rel="CANONICAL" href="../canonical#part">'
    )

    found = read("<p>text</p>", head).metadata

    assert found.description == "What it is"
    assert found.keywords == ("a", "b", "c")
    assert found.og_image == "https://example.com/i.png"
    assert found.canonical_url == "https://example.com/canonical"


@pytest.mark.parametrize(
    ("attributes", "head", "language"),
    [
        ('lang="EN-us"', "", "en"),
        ('lang="zh_Hant"', "", "zh"),
        ('lang=""', '<meta http-equiv="Content-Language" content="de, en">', "de"),
        ('lang="{{ lang }}"', "", "und"),
        ("", "", "und"),
    ],
)
def test_the_language_is_the_declared_one(attributes: str, head: str, language: str) -> None:
    assert read("<p>text</p>", head, attributes).language == language


ENGLISH = (
    "<p>The silk of a spider is stronger than steel of the same weight, and it can be stretched by "
    "a third before it breaks. Most of them spin a new web every day and eat the old one."
)
GERMAN = (
    "<p>Die Seide einer Spinne ist stärker als Stahl von gleichem Gewicht, und sie dehnt sich um "
    "ein Drittel, bevor sie reißt. Die meisten weben jeden Tag ein neues Netz."
)
HEBREW = (
    "<p>העכביש טווה את רשתו בין הענפים ומחכה בסבלנות לטרפו. כל בוקר הוא מתקן את החוטים שנקרעו "
    "בלילה, ואז שב אל מרכז הרשת."
)
JAVANESE = (
    "<p>Kabeh manungsa kalairaké mardika lan darbé martabat lan hak-hak kang padha. Kabeh "
    "pinaringan akal lan kalbu sarta kaajab pasrawungan anggoné memitran siji lan sijiné."
)
CODE = f"<pre><code>{' '.join(f'x{n}[k] += v{n} * 2 ** {n};' for n in range(30))}</code></pre>"


@pytest.mark.parametrize(
    ("attributes", "body", "language"),
    [
        pytest.param("", ENGLISH, "en", id="declared by nobody"),
        pytest.param("", GERMAN, "de", id="declared by nobody, German"),
        pytest.param("", HEBREW, "he", id="by the code of today, Hebrew"),
        pytest.param("", JAVANESE, "jv", id="by the code of today, Javanese"),
        pytest.param('lang="en"', GERMAN, "de", id="contradicted"),
        pytest.param('lang="de"', ENGLISH, "en", id="contradicted, English"),
        pytest.param('lang="de"', "<p>Spinne", "de", id="too short to contradict"),
        pytest.param("", "<p>Spinne", "und", id="too short"),
        pytest.param('lang="en"', CODE, "en", id="not words"),
        pytest.param("", CODE, "und", id="not words, declared by nobody"),
        pytest.param('lang="en"', ENGLISH + GERMAN, "en", id="two languages"),
        pytest.param("", "<p>\x01\U0001fffe\ud800" + ENGLISH, "en", id="with what isn't text"),
    ],
)
def test_the_text_decides_on_its_language_where_the_declaration_is_missing_or_contradicted(
    attributes: str, body: str, language: str
) -> None:
    assert read(body, attributes=attributes).language == language


@pytest.mark.parametrize(
    ("text", "media_type"),
    [(ENGLISH.removeprefix("<p>"), "text/plain"), (f"<r>{ENGLISH}</p></r>", "text/xml")],
)
def test_text_that_declares_nothing_has_its_own_language(text: str, media_type: str) -> None:
    assert extract(text, media_type, URL).language == "en"


# covers C-03
def test_links_are_absolute_unique_without_fragments_and_in_order() -> None:
    hrefs = [
        "b?q=1#part",
        "/a",
        "//cdn.example/x",
        "HTTP://EXAMPLE.com:80/up",
        "b?q=1",
        "#top",
        "",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "http://[broken",
        "/last",
    ]
    anchors = "".join(f'<a rel="nofollow" href="{href}">l</a>' for href in hrefs)

    assert read(f"<nav>{anchors}</nav><p>text</p>").links == (
        "https://example.com/docs/b?q=1",
        "https://example.com/a",
        "https://cdn.example/x",
        "http://example.com/up",
        "https://example.com/last",
    )


def links(body: str, head: str = "") -> list[tuple[str, str, bool, bool]]:
    found = read(f"{body}<p>text</p>", head).hyperlinks
    return [(each.url[-2:], each.text, each.nofollow, each.may_follow) for each in found]


def test_a_link_has_the_first_words_that_any_of_its_occurrences_shows() -> None:
    picture, title = '<img src="a.png">', "<b>Orb webs</b>"
    card = "".join(f'<a href="/a">{words}</a>' for words in (picture, title, "more"))
    assert links(card) == [("/a", "Orb webs", False, True)]


def test_a_link_is_followed_if_one_of_its_occurrences_may_be() -> None:
    again = '<a rel="nofollow" href="/a">a</a><a href="/a#part" rel="noopener">a</a>'
    only = '<a rel="NoFollow ugc" href="/b">b</a><a rel="nofollow" href="/b">b</a>'
    later = '<a href="/c">c</a><a rel="nofollow" href="/c">c</a>'
    assert links(again + only + later) == [
        ("/a", "a", True, True),
        ("/b", "b", True, False),
        ("/c", "c", False, True),
    ]


@pytest.mark.parametrize(
    ("head", "agents"),
    [
        ('<meta name="robots" content="noindex, NoFollow">', ("robots",)),
        ('<meta name="ROBOTS" content="none">', ("robots",)),
        ('<meta name="robots" content="all"><meta name="robots" content="none">', ("robots",)),
        ('<meta name="robots" content="noindex,follow">', ()),
        ('<meta name="spinneret" content="nofollow">', ("spinneret",)),
        ('<meta name="description" content="Why nofollow is a hint">', ()),
        ("", ()),
    ],
)  # fmt: skip
def test_a_page_says_which_crawlers_may_follow_none_of_its_links(
    head: str, agents: tuple[str, ...]
) -> None:
    assert read("<p>text</p>", head).nofollow_agents == agents


def test_links_start_from_the_declared_base() -> None:
    assert read('<a href="a">text</a>', '<base href="/other/">').links == (
        "https://example.com/other/a",
    )


def test_a_page_without_an_address_of_the_web_keeps_absolute_links_only() -> None:
    body = page('<a href="/a">relative</a> <a href="https://example.com/b">absolute</a>')

    assert extract(body, "text/html", "upload://1").links == ("https://example.com/b",)


@pytest.mark.heavy
def test_at_most_ten_thousand_links_are_listed() -> None:
    body = "".join(f'<a href="/{number}">link</a>' for number in range(10_005))

    found = read(body).links

    assert (len(found), found[-1]) == (10_000, "https://example.com/9999")


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a\r\nb\rc\n\n  d\u2028e", "a\nb\nc\n\n  d\ne"),
        ("if a < b and c <= d: x[1](2)", "if a < b and c <= d: x[1](2)"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("[a](javascript:b) [c](https://d.example)", "[a\\](javascript:b) [c](https://d.example)"),
        ("a\x00b", "ab"),
    ],
)
def test_plain_text_stays_as_it_is_but_inert(text: str, markdown: str) -> None:
    assert extract(text, "text/plain", URL).markdown == markdown


FEED = """<?xml version="1.0" encoding="utf-16"?>
<!DOCTYPE rss [<!ENTITY own "expanded">]>
<rss><channel><title>News</title><language>de-AT</language><link>https://example.com/n</link>
<item><title>One</title><d>a &own; b &lt;i&gt;</d><c><![CDATA[<b>c</b>]]></c></item>
</channel></rss>"""


@pytest.mark.parametrize("media_type", ["application/xml", "text/xml"])
def test_xml_gives_the_text_of_its_elements(media_type: str) -> None:
    found = extract(FEED, media_type, URL)

    assert (found.title, found.language) == ("News", "de")
    assert found.links == ("https://example.com/n",)
    assert found.markdown.split("\n\n") == [
        "News",
        "de-AT",
        "https://example.com/n",
        "One",
        "a",
        "b \\<i>",
        "\\<b>c\\</b>",
    ]


XHTML = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" lang="fr"><head>'
    '<title>T</title><script src="a.js"/></head><body><p>kept<br/>text</p></body></html>'
)


@pytest.mark.parametrize("media_type", ["application/xhtml+xml", "application/xml"])
def test_xhtml_is_read_as_xml_and_understood_as_html(media_type: str) -> None:
    found = extract(XHTML, media_type, URL)

    assert (found.title, found.language, found.markdown) == ("T", "fr", "kept\ntext")


def test_xhtml_with_thousands_of_attributes_costs_little() -> None:
    names = " ".join(f'a{n}="1"' for n in range(40_000))
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p {names}>word</p></body></html>'
    started = time.process_time()
    assert extract(page, "application/xhtml+xml", URL).markdown == "word"
    assert time.process_time() - started < 5  # 0.2 s; HTML parsers compare each with all


def test_xhtml_that_is_not_well_formed_is_read_as_html() -> None:
    found = extract("<html><body><p>a&nbsp;b<br>c</body></html>", "application/xhtml+xml", URL)

    assert found.markdown == "a b\nc"


NESTED_ENTITIES = "".join(
    f'<!ENTITY {name} "{f"&{below};" * 10}">' for below, name in pairwise("abcdefghi")
)
BOMB = f'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">{NESTED_ENTITIES}]>'


@pytest.mark.parametrize(
    ("text", "media_type", "reason"),
    [
        ("", "text/html", "empty"),
        ("<p> ... ! </p>", "text/html", "empty"),
        ("<script>a()</script>", "text/html", "empty"),
        (page("", "<title>Only a title</title>"), "text/html", "empty"),
        ("", "application/xhtml+xml", "empty"),
        (" \n- ", "text/plain", "empty"),
        ("<r> </r>", "text/xml", "empty"),
        ("", "text/xml", "malformed"),
        ("no markup", "text/xml", "malformed"),
        ("<div>" * 100_000 + "text", "text/html", "too_complex"),
        ("<a>" * 100_000 + "text", "text/xml", "too_complex"),
        (f"{BOMB}<r>&i; text</r>", "text/xml", "too_complex"),
        (f'{BOMB}<r a="&i;">text</r>', "text/xml", "malformed"),
        ("%PDF-1.7", "application/pdf", "media_type"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(
    text: str, media_type: str, reason: str
) -> None:
    with pytest.raises(ContentRefused) as caught:
        extract(text, media_type, URL)

    assert caught.value.details == {"reason": reason}


def test_a_feed_with_undeclared_prefixes_and_halves_of_characters_is_read() -> None:
    feed = "<rss><media:thumbnail/><a:link>https://x.example/&#xD83D;&#56832;</a:link></rss>"

    found = extract(feed, "application/xml", URL)

    assert found.markdown == "https://x.example/\ufffd\ufffd"
    assert [link.url for link in found.hyperlinks] == ["https://x.example/%EF%BF%BD%EF%BF%BD"]


@pytest.mark.parametrize("entity", ["SYSTEM 'file:///etc/hostname'", "SYSTEM 'http://127.0.0.1/'"])
def test_xml_loads_nothing_from_elsewhere(entity: str) -> None:
    text = f"<!DOCTYPE r [<!ENTITY x {entity}>]><r>&x;text</r>"

    assert extract(text, "application/xml", URL).markdown == "text"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("<div>" * 1_000 + "deep" + "</div>" * 1_000 + "<p>after</p>", ["deep", "after"]),
        ("<b>" * 1_000 + "deep", ["deep"]),
        ("<blockquote><ul><li>" * 60 + "deep", ["deep"]),
        ("<table><tr><td>" * 300 + "deep", ["deep"]),
        (f"<{'a' * 10_000_000}>before</p><p>after</p>", ["before", "after"]),
        (f'<p title="{"x" * 10_000_000}">before</p><p>after</p>', ["before", "after"]),
        (f"<!-- {'x' * 10_000_000} --><p>after</p>", ["after"]),
        (f"<p {' '.join(f'a{n}=1' for n in range(60_000))}>before</p><p>after</p>", ["before"]),
        (f"<p {' '.join(f'a{n}={chr(34)}>' + chr(34) for n in range(60_000))}>before", ["before"]),
        (f"<script>if (a<b {'c ' * 999} d='</script><p>after</p>", ["after"]),
        (f"<p>before</p><p>{'</b>' * 200_000}after", ["before", "after"]),
        (json_ld(["x"]).replace('["x"]', "[" * 100_000) + "<p>after</p>", ["after"]),
        (f"<div><p>{'word ' * 10_000}</p>{'<pre>a</pre>' * 1_500}after</div>", ["word", "after"]),
        (f"<p>before</p>{'<div>' * 1_900}{'<main></main>' * 2_000}after", ["before", "after"]),
        pytest.param(
            f"<p>before</p>{'<button>' * 1_500}{'<i></i>' * 5_000}{'after ' * 50}",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            "<a href=b><div>" * 900 + "<i></i>" * 6_000 + "after",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            ("<a href=b><i>" * 900 + "</i></a>" * 900) * 40 + "after",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            ("<button><i>" * 900 + "</i></button>" * 900) * 40 + "after",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            "<div><pre></pre>" * 900 + "<b></b>" * 100_000 + "after",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            f"<div class='{'x ' * 200_000}'>{'<pre>a</pre>' * 40_000}after</div>",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            f"<table><td class='{'x ' * 200_000}'>{'<pre>a</pre>' * 40_000}after",
            ["after"],
            marks=pytest.mark.heavy,
        ),
        pytest.param("<sup>" * 95 + "." * 900_000 + "after", ["after"], marks=pytest.mark.heavy),
        ("".join(f"<p><b id=b{n}>word</p>" for n in range(600)) + "after", ["word", "after"]),
        ("<p>&#xFFFE;&#1;\ud800\x00 a</p>", ["a"]),
    ],
    ids=lambda value: None if isinstance(value, list) else f"{value[:12]}…",
)
def test_hostile_markup_costs_little_and_loses_no_text(body: str, kept: list[str]) -> None:
    started = time.process_time()

    found = read(body, og("og:type", "article")).markdown

    assert time.process_time() - started < 5  # each takes well under a second
    assert all(text in found for text in kept)


def calls_for(body: str) -> int:
    """Count the function calls while a page is read: a measure of its cost on any machine."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read(body)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("tiny", ["<p>x", "<li>x", "<td>x", "x<br>", "<hr>", "<b>x</b>"])
def test_a_page_of_tiny_elements_takes_few_calls_for_each(tiny: str) -> None:
    more = calls_for(f"x{tiny * 13_000}") - calls_for(f"x{tiny * 12_000}")

    assert more < 95 * 1_000  # 250,000 elements take three seconds


@pytest.mark.parametrize(
    "body",
    [
        "<ul><li>" * 90 + "<li>x" * 1_000,
        "<blockquote>" * 90 + "<p>x" * 1_000,
        f"<table><tr><td rowspan=100>{'word ' * 6_000}<td>a</tr>{'<tr><td>b</tr>' * 99}</table>",
        f"<table><tr>{'<td colspan=100>a' * 20_000}</table>",
        f"<table><tr>{'<td colspan=100>a' * 500}</table>" * 20,
        f"<table><tr><td rowspan=100>{'word ' * 900}<td>a</tr>{'<tr><td>b</tr>' * 99}</table>" * 40,
        f"<p role=tab id=a>{'word ' * 9_000}</p>"
        + "<p role=tabpanel aria-labelledby=a><pre>b</pre></p>" * 900,
        f"<base href='https://x.example/{'b' * 1_900}/'>{'<a href=c>d</a> ' * 30_000}",
    ],
    ids=["lists", "quotations", "spans", "row", "tables", "repeats of tables", "labels", "base"],
)
def test_marks_and_repeats_do_not_multiply_a_page(body: str) -> None:
    assert len(read(body).markdown) < 20 * len(body)


def test_the_same_page_always_gives_the_same_content() -> None:
    text = page(ARTICLE_PAGE, og("og:type", "article"))

    assert extract(text, "text/html", URL) == extract(text, "text/html", URL)


@pytest.mark.parametrize(
    ("body", "reason"),
    [("<div>" * 100_000 + "deep", "too_complex"), ("<" * 1_000_000, "empty")],
    ids=["depth", "brackets"],
)
def test_hostile_markup_without_a_result_is_refused(body: str, reason: str) -> None:
    with pytest.raises(ContentRefused) as refused:
        read(body)

    assert refused.value.details["reason"] == reason


def test_without_targets_links_are_their_labels_and_pictures_are_left_out() -> None:
    body = '<p>see <a href="/x">the site</a> <img alt="Map" src="/m.png"></p>'

    bare = extract(page(body), "text/html", URL, targets=False)

    assert bare.markdown == "see the site"
    assert read(body).text.strip() == "see the site"

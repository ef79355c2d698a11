"""Sitemaps and feeds: their entries, and bounds against hostile files."""

import gzip
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.web.exploring import limits
from spinneret.web.exploring.sitemaps.dates import parse_date
from spinneret.web.exploring.sitemaps.models import Ending, SitemapEntry, SitemapKind
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.exploring.sitemaps.walk import SitemapWalk, first_sitemaps
from spinneret.web.fetching.urls import parse_url
from spinneret.web.politeness.robots import parse as parse_robots

SITE = "https://site.example"
HERE = f"{SITE}/maps/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DAY = datetime(2026, 1, 2, tzinfo=UTC)


def read(
    content: bytes | str, size: int = 7, **given: int
) -> tuple[list[SitemapEntry], SitemapKind, Ending | None]:
    """Read the content in small chunks; return its entries, its kind and its ending."""
    data = content.encode() if isinstance(content, str) else content
    reader = SitemapReader(HERE, **given)  # type: ignore[arg-type]  # bounds only
    entries = list(reader.read(data[n : n + size] for n in range(0, len(data), size)))
    return entries, reader.kind, reader.ending


def urls(content: bytes | str, size: int = 7, **given: int) -> list[str]:
    return [entry.url.removeprefix(SITE) for entry in read(content, size, **given)[0]]


URLSET = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <image:image><image:loc>{SITE}/picture.png</image:loc></image:image>
    <loc>
      {SITE}/a?x=1&amp;y=2#top
    </loc>
    <lastmod>2026-01-02</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
  </url>
  <url><loc>/b</loc><priority>7</priority><lastmod>soon</lastmod></url>
  <url><loc></loc></url>
  <url><loc>mailto:x@site.example</loc></url>
  <url><loc><![CDATA[{SITE}/c]]></loc></url>
</urlset>"""
INDEX = f"""<sitemapindex {NS}>
  <sitemap><loc>{SITE}/one.xml</loc><lastmod>2026-01-02T03:04:05+02:00</lastmod></sitemap>
  <sitemap><loc>{SITE}/two.xml.gz</loc></sitemap>
</sitemapindex>"""
RSS = f"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
  <link>{SITE}/channel</link><atom:link href="{SITE}/self" rel="self"/>
  <item><title>A</title><link>{SITE}/a</link><guid isPermaLink="false">7</guid>
    <pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item>
  <item><guid>{SITE}/b</guid></item>
  <item><guid isPermaLink="false">{SITE}/no</guid></item>
</channel></rss>"""
RDF = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <item rdf:about="x"><link>{SITE}/a</link><dc:date>2026-01-02</dc:date></item></rdf:RDF>"""
ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="{SITE}/feed"/>
  <entry><link rel="enclosure" href="{SITE}/x.mp3"/><link rel="alternate" href="{SITE}/a"/>
    <published>2020-01-01</published><updated>2026-01-02T00:00:00Z</updated>
    <source><link href="{SITE}/source"/></source></entry>
  <entry><link href="/b"/><published>2026-01-02</published></entry></feed>"""
TEXT = f"\ufeff{SITE}/a\r\n# a comment\n\n  {SITE}/b  \nnothing\nHTTPS://site.example/c"
PREFIXED = f"""<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">
  <sm:url><sm:loc>{SITE}/a</sm:loc></sm:url></sm:urlset>"""


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        (URLSET, SitemapKind.URLSET, ["/a?x=1&y=2", "/b", "/c"]),
        (INDEX, SitemapKind.INDEX, ["/one.xml", "/two.xml.gz"]),
        (RSS, SitemapKind.RSS, ["/a", "/b"]),
        (RDF, SitemapKind.RSS, ["/a"]),
        (ATOM, SitemapKind.ATOM, ["/a", "/b"]),
        (TEXT, SitemapKind.TEXT, ["/a", "/b", "/c"]),
        (PREFIXED, SitemapKind.URLSET, ["/a"]),
        (f"<urlset {NS}/>", SitemapKind.URLSET, []),
        (f"  \n{PREFIXED}", SitemapKind.URLSET, ["/a"]),
        (f"\ufeff \n{URLSET}", SitemapKind.URLSET, ["/a?x=1&y=2", "/b", "/c"]),
        ("", SitemapKind.UNKNOWN, []),
        (" \n ", SitemapKind.UNKNOWN, []),
    ],
    ids=[
        *("urlset", "index", "rss", "rdf", "atom", "text", "prefixed", "none", "blanks"),
        *("mark and blanks", "empty", "blank"),
    ],
)
def test_every_kind_is_read_whatever_its_chunks(
    content: str, kind: SitemapKind, expected: list[str]
) -> None:
    plain = content.encode()
    for data in (plain, gzip.compress(plain)):
        for size in (1, 7, 100_000):
            entries, found, ending = read(data, size)
            assert [entry.url.removeprefix(SITE) for entry in entries] == expected, size
            assert (found, ending) == (kind, Ending.COMPLETE), size


def test_the_date_of_an_entry_is_read() -> None:
    [first, second, *_], _, _ = read(URLSET)
    assert (first.last_modified, second.last_modified) == (DAY, None)
    assert {entry.last_modified for entry in read(RSS)[0]} == {DAY, None}
    assert {entry.last_modified for entry in read(ATOM)[0]} == {DAY}
    [file, _], _, _ = read(INDEX)
    assert file.is_sitemap
    assert file.last_modified == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252", "utf-8-sig"])
def test_other_encodings_are_read(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><urlset><url><loc>/ä</loc></url></urlset>'
    assert urls(text.encode(encoding)) == ["/%C3%A4"]


@pytest.mark.parametrize("encoding", ["gb2312", "big5", "euc-kr", "euc-jp", "shift_jis"])
@pytest.mark.parametrize("size", [1, 4096])
def test_encodings_of_east_asia_are_read(encoding: str, size: int) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{START}<url><loc>/山</loc></url></urlset>'
    assert urls(text.encode(encoding), size)[-1:] == ["/%E5%B1%B1"]


@pytest.mark.parametrize("encoding", ["hex", "idna", "nonsense"])
def test_an_encoding_that_the_parser_lacks_is_a_fault_of_the_file(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{START}</urlset>'
    assert read(text)[2] is Ending.MALFORMED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01", datetime(2026, 1, 1, tzinfo=UTC)),
        (" 2026-01-02 ", DAY),
        ("2026-01-02T00:00Z", DAY),
        ("2026-01-02T00:00:00.000Z", DAY),
        ("2026-01-02T01:00:00+01:00", DAY),
        ("2026-01-02T00:00:00", DAY),
        ("Fri, 02 Jan 2026 01:00:00 +0100", DAY),
        ("Fri, 02 Jan 2026 00:00:00 -0000", DAY),
        ("", None),
        ("yesterday", None),
        ("2026-13-01", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("9" * 5000, None),
        ("٢٠٢٦", None),
    ],
)
def test_dates_are_read_in_their_forms(text: str, expected: datetime | None) -> None:
    assert parse_date(text) == expected


# ---------------------------------------------------------------- Hostile and broken files

START = f"<urlset><url><loc>{SITE}/a</loc></url>"


@pytest.mark.parametrize(
    ("content", "ending", "expected"),
    [
        (f"{START}<url><loc>{SITE}/b</loc>", Ending.MALFORMED, ["/a"]),
        (f"{START}</oops>", Ending.MALFORMED, ["/a"]),
        (f"{START}&nbsp;</urlset>", Ending.MALFORMED, ["/a"]),
        (START + "<x>" * limits.SITEMAP_XML_DEPTH_MAX, Ending.MALFORMED, ["/a"]),
        (gzip.compress(START.encode(), mtime=0)[:-9], Ending.MALFORMED, []),
        ("<html><body>404</body></html>", Ending.NOT_A_SITEMAP, []),
        ("<!DOCTYPE html><html lang=en><p>", Ending.NOT_A_SITEMAP, []),
        ("not found", Ending.NOT_A_SITEMAP, []),
        (b"\x00\x01\x02", Ending.NOT_A_SITEMAP, []),
        ('<!DOCTYPE urlset [<!ENTITY a "b">]><urlset/>', Ending.ENTITIES, []),
        (
            '<!DOCTYPE urlset [<!ENTITY % a SYSTEM "file:///etc/passwd">%a;]><urlset/>',
            "entities",
            [],
        ),
        (
            '<!DOCTYPE urlset SYSTEM "http://127.0.0.1/x.dtd"><urlset><url><loc>&x;</loc></url>',
            Ending.ENTITIES,
            [],
        ),
    ],
    ids=[
        *("cut off", "wrong end", "undeclared", "too deep", "gzip cut off", "html", "html type"),
        *("words", "bytes", "entity", "parameter entity", "external type"),
    ],
)
def test_what_came_before_a_fault_is_kept(
    content: bytes | str, ending: Ending, expected: list[str]
) -> None:
    entries, _, found = read(content)
    assert found == ending
    assert [entry.url.removeprefix(SITE) for entry in entries] == expected


def test_a_file_has_a_bounded_number_of_urls() -> None:
    content = "<urlset>" + "<url><loc>/a</loc></url>" * 5 + "</urlset>"
    assert len(urls(content, max_urls=5)) == 5
    assert read(content, max_urls=5)[2] is Ending.COMPLETE
    assert len(urls(content, max_urls=4)) == 4
    assert read(content, max_urls=4)[2] is Ending.TOO_MANY_URLS


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_file_has_a_bounded_size_unpacked(packed: bool) -> None:
    content = ("<urlset>" + "<url><loc>/a</loc></url>" * 5000).encode()
    data = gzip.compress(content) if packed else content
    entries, _, ending = read(data, 1000, max_bytes=100_000)
    assert ending is Ending.TOO_MANY_BYTES
    assert 0 < len(entries) < 5000


def test_reading_stops_when_there_is_no_time() -> None:
    turns = iter([True, True, False])
    reader = SitemapReader(HERE, may_go_on=lambda: next(turns))
    found = list(reader.read([b"<urlset>", b"<url><loc>/a</loc></url>", b"<url><loc>/b</loc>"]))
    assert len(found) <= 1
    assert reader.ending is Ending.OUT_OF_TIME


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("start", "ending"),
    [
        ("<!--", Ending.MALFORMED),
        ("<?xml ", Ending.MALFORMED),
        ("<urlset><", Ending.MALFORMED),
        ('<urlset><url x="', Ending.MALFORMED),
        ("<urlset><url><loc>", Ending.TOO_MANY_BYTES),
        ("<urlset><url><loc><![CDATA[", Ending.TOO_MANY_BYTES),
        ("https://site.example/", Ending.TOO_MANY_BYTES),
    ],
)
def test_what_never_ends_fills_no_memory_and_is_not_read_over_and_over(
    start: str, ending: Ending
) -> None:
    """Before 2.6, expat parses an unfinished token again with each chunk: CVE-2023-52425."""

    def endless() -> Iterator[bytes]:
        yield start.encode()
        for _ in range(bounds.SITEMAP_MAX_BYTES // 65_536 + 1):
            yield b"a" * 65_536

    reader = SitemapReader(HERE)
    tracemalloc.start()
    try:
        assert list(reader.read(endless())) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.ending is ending
    assert peak < 8 * 1024 * 1024


@pytest.mark.heavy
def test_a_large_file_takes_little_memory() -> None:
    line = b"<url><loc>https://site.example/some/page-of-usual-length.html</loc></url>\n"

    def chunks() -> Iterator[bytes]:
        yield b"<urlset>"
        for _ in range(100):
            yield line * 100
        yield b"</urlset>"

    tracemalloc.start()
    try:
        count = sum(1 for _ in SitemapReader(HERE).read(chunks()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 10_000
    assert peak < 1024 * 1024


pieces = st.sampled_from(
    [
        *("<urlset>", "</urlset>", "<url>", "</url>", "<loc>", "</loc>", "<sitemapindex>", "<rss>"),
        *("<item>", "<link/>", "<feed>", "<entry>", "<link href='/a'/>", "/a", "&amp;", "&x;", "<"),
        *(">", "<![CDATA[", "]]>", "<!--", "-->", "https://site.example/", "\n", " ", "\x00", "ä"),
        *("<?xml version='1.0'?>", "<!DOCTYPE a [", "]>", "\x1f\x8b", "a:b", "'", '"', "</"),
    ]
)


@given(st.lists(pieces, max_size=30).map("".join), st.integers(1, 50))
def test_nothing_in_a_file_raises(content: str, size: int) -> None:
    entries, _, ending = read(content, size)
    assert ending is not None
    assert all(parse_url(entry.url).text == entry.url for entry in entries)


@given(st.binary(max_size=200))
def test_no_bytes_raise(content: bytes) -> None:
    for data in (content, gzip.compress(content), b"\x1f\x8b" + content):
        assert read(data)[2] is not None


# ---------------------------------------------------------------- Files to read


def test_robots_txt_says_where_to_begin_else_the_usual_places_are() -> None:
    site = parse_url(f"{SITE}/deep/page?x=1")
    named = parse_robots("Sitemap: https://cdn.example/map.xml\nSitemap: https://site.example/b")
    assert first_sitemaps(site, named) == ("https://cdn.example/map.xml", f"{SITE}/b")
    usual = (f"{SITE}/sitemap.xml", f"{SITE}/sitemap_index.xml")
    assert first_sitemaps(site, parse_robots("User-agent: *")) == usual
    assert first_sitemaps(site, None) == usual


def walked(walk: SitemapWalk, tree: dict[str, list[str]]) -> list[str]:
    order = []
    while file := walk.next_file():
        order.append(file.url.removeprefix(SITE))
        for child in tree.get(order[-1], []):
            walk.found(file, SitemapEntry(url=SITE + child, is_sitemap=True))
    return order


def test_each_file_is_read_once_and_indexes_before_what_they_name() -> None:
    walk = SitemapWalk([f"{SITE}/i", f"{SITE}/a"])
    tree = {"/i": ["/b", "/a", "/i", "/j"], "/j": ["/b", "/c"]}
    assert walked(walk, tree) == ["/i", "/a", "/b", "/j", "/c"]
    assert walk.dropped == 0


def test_what_is_no_url_is_not_read() -> None:
    walk = SitemapWalk(["http://[/map.xml", f"{SITE}/a"])
    assert (walked(walk, {}), walk.dropped) == (["/a"], 1)


def test_what_changed_last_is_read_first() -> None:
    walk = SitemapWalk([f"{SITE}/i"])
    file = walk.next_file()
    assert file is not None
    for name, changed in [("a", None), ("b", datetime(2020, 1, 1, tzinfo=UTC)), ("c", DAY)]:
        walk.found(file, SitemapEntry(url=f"{SITE}/{name}", last_modified=changed, is_sitemap=True))
    assert walked(walk, {}) == ["/c", "/b", "/a"]


def test_indexes_in_indexes_have_an_end() -> None:
    walk = SitemapWalk([f"{SITE}/0"])
    tree = {f"/{n}": [f"/{n + 1}"] for n in range(20)}
    assert len(walked(walk, tree)) == limits.SITEMAP_NESTING_MAX + 1
    assert walk.dropped == 1


def test_so_many_files_are_read() -> None:
    walk = SitemapWalk([f"{SITE}/i"], max_files=3)
    assert walked(walk, {"/i": [f"/{n}" for n in range(10)]}) == ["/i", "/0", "/1"]
    assert walk.dropped == 8


def test_so_many_files_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SITEMAP_PENDING_MAX", 4)
    walk = SitemapWalk([f"{SITE}/i"])
    assert len(walked(walk, {"/i": [f"/{n}" for n in range(10)]})) == 4
    assert walk.dropped == 7

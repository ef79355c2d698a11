"""Facts of sitemap files."""

import pytest

from spinneret.audits.facts.site import SitemapUrl
from spinneret.audits.facts.sitemaps import read_sitemap

URL = "https://a.example/sitemap.xml"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def test_urls_with_their_dates() -> None:
    content = (
        f"<urlset {XMLNS}><url><loc> https://a.example/ </loc><lastmod>2026-11-01</lastmod></url>"
        "<url><loc>https://a.example/b</loc></url></urlset>"
    )
    found = read_sitemap(URL, content.encode())
    assert found.entries == (
        SitemapUrl("https://a.example/", "2026-11-01"),
        SitemapUrl("https://a.example/b"),
    )
    assert (found.count, found.error, found.is_index) == (2, "", False)


def test_an_index_lists_sitemaps() -> None:
    content = f"<sitemapindex {XMLNS}><sitemap><loc>{URL}</loc></sitemap></sitemapindex>"
    found = read_sitemap(URL, content.encode())
    assert (found.is_index, found.entries) == (True, (SitemapUrl(URL),))


def test_locations_of_images_are_not_pages() -> None:
    content = (
        f'<urlset {XMLNS} xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url>'
        "<loc>https://a.example/</loc><i:image><i:loc>https://a.example/i.png</i:loc></i:image>"
        "</url></urlset>"
    )
    assert read_sitemap(URL, content.encode()).entries == (SitemapUrl("https://a.example/"),)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"<urlset><url><loc>https://a.example/</loc></urlset>", "not_xml"),
        (b"<html><body>Not found</body></html>", "not_a_sitemap"),
        (b"<urlset></urlset>", "empty"),
        (b"", "empty"),
        (b"Not found", "not_xml"),
        (b"<urlset><url><loc>https://a.example/</loc><image:image/></url></urlset>", "not_xml"),
        (b"\xef\xbb\xbfhttps://a.example/\nhttps://a.example/b\n", ""),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>', ""),
    ],
)
def test_files_that_are_none(content: bytes, error: str) -> None:
    assert read_sitemap(URL, content).error == error


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "https://evil.example/">]>'
    found = read_sitemap(URL, bomb + b"<urlset><url><loc>&a;</loc></url></urlset>")
    assert found.entries == ()


@pytest.mark.heavy
def test_more_urls_than_are_kept_are_counted() -> None:
    content = "<urlset>" + "<url><loc>https://a.example/</loc></url>" * 50_001 + "</urlset>"
    found = read_sitemap(URL, content.encode())
    assert (found.count, len(found.entries)) == (50_001, 50_000)

"""The scope of a crawl: the URLs that belong to it."""

import pytest

from spinneret.web.exploring.scope import CrawlScope, ScopeKind, ScopeRefusal
from spinneret.web.fetching.urls import parse_url


@pytest.mark.parametrize(
    ("kind", "root", "url", "belongs"),
    [
        ("host", "https://site.example/a", "https://site.example/b", True),
        ("host", "https://site.example/", "http://site.example/", True),
        ("host", "https://site.example/", "https://www.site.example/", True),
        ("host", "https://www.site.example/", "https://site.example/", True),
        ("host", "https://site.example/", "https://docs.site.example/", False),
        ("host", "https://site.example/", "https://site.example:8443/", False),
        ("host", "http://127.0.0.1:80/", "http://127.0.0.1:8080/", False),
        ("host", "http://www.example/", "http://example/", False),
        ("domain", "https://a.site.co.uk/", "https://b.site.co.uk:81/", True),
        ("domain", "https://a.site.co.uk/", "https://a.other.co.uk/", False),
        ("domain", "https://me.github.io/", "https://you.github.io/", False),
        ("prefix", "https://site.example/docs/", "https://site.example/docs/a/b", True),
        ("prefix", "https://site.example/docs/", "https://site.example/docs", False),
        ("prefix", "https://site.example/docs", "https://site.example/docs", True),
        ("prefix", "https://site.example/docs", "https://site.example/docs/a", True),
        ("prefix", "https://site.example/docs", "https://site.example/docsearch", False),
        ("prefix", "https://site.example/docs/i.html", "https://site.example/docs/b.html", True),
        ("prefix", "https://site.example/docs/i.html", "https://site.example/", False),
        ("prefix", "https://site.example/docs/", "https://other.example/docs/", False),
        ("prefix", "https://site.example/", "https://site.example/a", True),
        ("prefix", "https://site.example/docs/v1.2", "https://site.example/docs/v1.2/a", True),
        ("prefix", "https://site.example/docs/v1.2", "https://site.example/docs/v2/a", False),
        ("prefix", "https://site.example/docs/1.2.x", "https://site.example/docs/v2/a", False),
    ],
)
def test_a_crawl_goes_as_far_as_its_kind_says(
    kind: str, root: str, url: str, belongs: bool
) -> None:
    scope = CrawlScope.of(ScopeKind(kind), [parse_url(root)])
    expected = None if belongs else ScopeRefusal.OUT_OF_SCOPE
    assert scope.refusal(parse_url(url)) is expected


def test_several_roots_make_one_scope() -> None:
    roots = [parse_url("https://a.example/"), parse_url("https://b.example/")]
    scope = CrawlScope.of(ScopeKind.HOST, roots)
    assert scope.refusal(parse_url("https://b.example/x")) is None
    assert scope.refusal(parse_url("https://c.example/x")) is ScopeRefusal.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("/blog/a", None),
        ("/shop/a", ScopeRefusal.NOT_INCLUDED),
        ("/blog/tag/a", ScopeRefusal.EXCLUDED),
    ],
)
def test_patterns_narrow_a_scope_and_exclusion_wins(
    path: str, refusal: ScopeRefusal | None
) -> None:
    root = parse_url("https://site.example/")
    scope = CrawlScope.of(ScopeKind.HOST, [root], include=["/blog/**"], exclude=["/blog/tag/*"])
    assert scope.refusal(parse_url(f"https://site.example{path}")) is refusal

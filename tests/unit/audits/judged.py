"""Verdicts of single checks on made-up facts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import UNKNOWN, Answer, CheckScope
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, Link, PageFacts, PageKind, TextFacts
from spinneret.audits.facts.site import FileFacts, SiteFacts

PASS, FAIL, NONE, UNJUDGED = "passed", "failed", "does not apply", "unknown"
NOW = "2026-11-22T12:00:00+00:00"
HOST = "https://a.example"
URL = f"{HOST}/page"
CHECKS = {check.id: check for check in catalogue()}
HTML = HtmlFacts(text=TextFacts(words=300, prose_words=300, fingerprint="f"), titles=("A title",))

Facts = Mapping[str, Any]


def page(url: str = URL, kind: PageKind = PageKind.HTML, **values: Any) -> PageFacts:
    """Return the facts of a page; `values` are fields of the page or, for HTML, of its markup."""
    own = {name: values.pop(name) for name in list(values) if name in HtmlFacts.__slots__}
    html = replace(HTML, **own) if kind is PageKind.HTML else None
    values.setdefault("final_url", url)
    values.setdefault("status", 200 if kind is PageKind.HTML else None)
    return PageFacts(url=url, kind=kind, fetched_at=NOW, html=html, **values)


def site_of(pages: Sequence[PageFacts], start: str = f"{HOST}/", **facts: Any) -> Site:
    """Return a site of these pages."""
    site = Site(start)
    for each in pages:
        site.add(each)
    facts.setdefault("robots", FileFacts(status=200))
    site.close(SiteFacts(start_url=start, audited_at=NOW, **facts))
    return site


def verdict(answer: Answer) -> str:
    """Return the verdict as one word."""
    if answer is UNKNOWN:
        return UNJUDGED
    return NONE if answer is None else FAIL if answer else PASS


def of_page(check: str, **values: Any) -> str:
    """Return the verdict of a check of one page alone."""
    assert CHECKS[check].scope is CheckScope.PAGE
    return verdict(CHECKS[check].judge(page(**values)))


def in_site(check: str, pages: Sequence[PageFacts], **facts: Any) -> str:
    """Return the verdict of a check of the first page among the others."""
    assert CHECKS[check].scope is CheckScope.PAGE_IN_SITE
    site = site_of(pages, **facts)
    node = site.node(pages[0].url)
    assert node is not None
    return verdict(CHECKS[check].judge(node, site))


def of_site(check: str, pages: Sequence[PageFacts] = (), **facts: Any) -> str:
    """Return the verdict of a check of the site."""
    assert CHECKS[check].scope is CheckScope.SITE
    return verdict(CHECKS[check].judge(site_of(pages, **facts)))


def links(*urls: str, **values: Any) -> tuple[Link, ...]:
    """Return links with a text."""
    return tuple(Link(url, None, text="A page of trees", **values) for url in urls)

"""Audits of two whole sites: they find every issue of the broken one and none of the good one."""

#

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import CheckScope
from spinneret.audits.facts.models import PageFacts, PageKind
from spinneret.audits.facts.site import SiteFacts
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import AuditEvaluator, Result
from tests.unit.audits import broken
from tests.unit.audits.judged import NOW, page
from tests.unit.audits.site import GOOD_PAGES, HOST, good_site_facts


def audit(pages: Iterable[PageFacts], site: SiteFacts) -> tuple[Result, FindingLog]:
    log = FindingLog(io.BytesIO())
    running = AuditEvaluator(site.start_url, log.add)
    for each in pages:
        running.page(each)
    return running.finish(site), log


def test_nothing_is_found_on_the_good_site() -> None:
    result, log = audit([facts for each in GOOD_PAGES for facts in each.facts()], good_site_facts())
    assert [finding.key for finding in log] == []
    assert result.score.total == 100
    assert set(result.score.categories.values()) == {100, None}  # category agents has no weight


@pytest.mark.heavy
def test_exactly_the_written_issues_are_found_on_the_broken_site() -> None:
    _, log = audit(broken.facts(), broken.site_facts())
    found = {finding.key for finding in log}
    assert found == broken.expected()
    assert len(found) == len(log)


def test_every_issue_names_a_place_and_every_page_its_own() -> None:
    _, log = audit(broken.facts(), broken.site_facts())
    for finding in log:
        assert finding.count >= len(finding.evidence) >= 1
        assert all(evidence.where for evidence in finding.evidence)


def test_what_a_page_lacks_costs_it_points_and_the_others_none() -> None:
    result, _ = audit(broken.facts(), broken.site_facts())
    scores = {each.url: each.score for each in result.pages}
    assert scores[f"{HOST}/oak"] == 100
    assert scores[f"{HOST}/gone"] == 0
    noindex, untitled = scores[f"{HOST}/noindex"], scores[f"{HOST}/untitled"]
    assert noindex is not None
    assert untitled is not None
    assert noindex < 60 < untitled < 100


def test_coverage_counts_what_was_not_checked() -> None:
    result, _ = audit(broken.facts(), broken.site_facts())
    assert result.coverage.external_links == 5
    assert result.coverage.external_links_checked == 3
    assert (result.coverage.images, result.coverage.images_checked) == (9, 5)
    assert result.coverage.pages_not_visited > 100  # the fixture's links with parameters


def test_the_order_of_pages_does_not_matter() -> None:
    pages = broken.facts()
    forwards, first = audit(pages, broken.site_facts())
    backwards, second = audit(reversed(pages), broken.site_facts())
    assert forwards.score.total == backwards.score.total
    assert {f.key for f in first} == {f.key for f in second}


def test_a_page_that_comes_twice_counts_once() -> None:
    pages = [facts for each in GOOD_PAGES for facts in each.facts()]
    once, _ = audit(pages, good_site_facts())
    twice, log = audit([*pages, *pages], good_site_facts())
    assert (len(log), len(twice.pages)) == (0, len(once.pages))


def test_a_page_of_another_host_is_not_the_site_s() -> None:
    pages = [facts for each in GOOD_PAGES for facts in each.facts()]
    elsewhere = replace(GOOD_PAGES[1], host="https://other.example", title=None)
    result, log = audit([*pages, *elsewhere.facts()], good_site_facts())
    assert (len(log), len(result.pages)) == (0, len(pages))


def test_most_checks_have_a_page_that_breaks_them() -> None:
    """The other checks block further checks, so they have their own tests."""
    absent = {check.id for check in catalogue()} - {check for check, _ in broken.expected()}
    assert absent == {
        *("robots.unreachable", "robots.missing", "robots.size", "robots.redirects"),
        *("robots.blocks_all", "sitemap.missing", "sitemap.invalid", "content.thin_vs_norm"),
    }


@pytest.mark.parametrize("kind", PageKind)
def test_a_page_is_only_asked_what_it_is_about(kind: PageKind) -> None:
    wrong = page("http://a.example/A_b", kind, status=500, size=10**9, first_byte_ms=9000)
    _, log = audit([wrong], SiteFacts(start_url=wrong.url, audited_at=NOW))
    about = {
        check.id for check in catalogue() if kind in check.kinds or check.scope is CheckScope.SITE
    }
    assert {finding.check for finding in log} <= about
    assert kind in (PageKind.REDIRECT, PageKind.OTHER) or "http.5xx" in {
        finding.check for finding in log
    }

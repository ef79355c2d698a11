"""Comparison of two audit runs."""

import pytest

from spinneret.audits.checks.models import Evidence
from spinneret.audits.comparison import Known, RunComparison, compare
from spinneret.audits.findings import Finding

URL = "https://a.example/oak.jpg"


def finding(check: str, url: str, *evidence: Evidence, count: int | None = None) -> Finding:
    """Return an issue of the earlier run."""
    return Finding(
        check=check,
        url=url,
        count=len(evidence) if count is None else count,
        evidence=evidence,
    )


def compared(
    before: list[Finding], after: list[tuple[str, str]], known: Known, versions: str = "11"
) -> RunComparison:
    return compare(
        before,
        after,
        known=known,
        score_before=80.1,
        score_after=82.35,
        versions=(versions[0], versions[1]),
    )


def test_issues_are_new_fixed_still_there_or_not_seen() -> None:
    found = compared(
        [finding("a", "/1"), finding("b", "/1"), finding("a", "/gone")],
        [("a", "/1"), ("c", "/2")],
        Known(visited={"/1", "/2"}),
    )
    assert found.new == (("c", "/2"),)
    assert found.fixed == (("b", "/1"),)
    assert found.still == (("a", "/1"),)
    assert found.not_seen == (("a", "/gone"),)
    assert found.unchecked == ()
    assert (found.change, found.catalogue_changed) == (2.25, False)


@pytest.mark.parametrize(
    ("known", "is_fixed"),
    [
        (Known(visited={"/1"}), True),
        (Known(visited={"/1"}, unasked={URL}), False),
        (Known(visited={"/1"}, unasked={"https://a.example/another.jpg"}), True),
        (Known(visited={"/1"}, unchecked={("img.broken", "/1")}), False),
        (Known(visited={"/1"}, unchecked={("img.broken", "/2")}), True),
        (Known(visited={"/1"}, checks={"img.broken"}), True),
        (Known(visited={"/1"}, checks={"img.alt"}), False),  # a later catalogue lacks the check
    ],
)
def test_an_issue_is_fixed_only_if_what_it_names_was_asked(known: Known, is_fixed: bool) -> None:
    former = finding("img.broken", "/1", Evidence("img[src]", "404", "200", URL))
    found = compared([former], [], known)
    assert (found.fixed, found.unchecked) == (
        ((former.key,), ()) if is_fixed else ((), (former.key,))
    )


def test_an_issue_with_more_evidence_than_was_kept_is_fixed_only_if_nothing_is_unknown() -> None:
    former = finding("img.broken", "/1", Evidence("img[src]", "404", "200", URL), count=30)
    assert compared([former], [], Known(visited={"/1"})).fixed == (former.key,)
    unknown = Known(visited={"/1"}, unasked={"https://a.example/another.jpg"})
    assert compared([former], [], unknown).unchecked == (former.key,)


def test_an_issue_of_the_site_stays_the_same_if_a_run_begins_at_another_page() -> None:
    former = [finding(name, "https://a.example/") for name in ("sitemap.missing", "robots.missing")]
    start = "https://a.example/oak"
    known = Known(visited={start}, start_url=start, unchecked={("robots.missing", start)})
    found = compared(former, [("sitemap.missing", start)], known)
    assert (found.still, found.unchecked) == (
        (("sitemap.missing", start),),
        (("robots.missing", start),),
    )
    assert (found.new, found.fixed, found.not_seen) == ((), (), ())


def test_another_catalogue_is_told() -> None:
    assert compared([], [], Known(visited=()), "12").catalogue_changed

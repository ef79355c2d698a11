"""Stored facts and findings are equal to the written ones."""

import io
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinneret.audits.checks.models import Evidence
from spinneret.audits.facts.models import HtmlFacts, PageFacts
from spinneret.audits.facts.site import LinkOutcome, SiteFacts
from spinneret.audits.facts.storing import PAGES, SITES
from spinneret.audits.findings import Finding, FindingLog, finding_of
from tests.unit.audits import broken

TEXT = st.text(max_size=20)


OUTCOMES = st.dictionaries(TEXT, st.from_type(LinkOutcome), max_size=3)


@settings(suppress_health_check=list(HealthCheck), max_examples=25)
@given(st.from_type(PageFacts), st.none() | st.floats(0, allow_infinity=False))
def test_page_facts_survive_being_stored(facts: PageFacts, shift: float | None) -> None:
    if facts.lab is not None:
        facts = replace(facts, lab=facts.lab._replace(layout_shift=shift))  # finite in browsers
    assert PAGES.load(PAGES.dump(facts)) == facts


@settings(suppress_health_check=list(HealthCheck), max_examples=25)
@given(st.from_type(SiteFacts), OUTCOMES)
def test_site_facts_survive_being_stored(
    facts: SiteFacts, outcomes: dict[str, LinkOutcome]
) -> None:
    facts = replace(facts, outcomes=outcomes)
    assert SITES.load(SITES.dump(facts)) == facts


def test_what_says_nothing_takes_no_room() -> None:
    facts = broken.facts()[0]
    assert PAGES.load(PAGES.dump(facts)) == facts
    assert "null" not in PAGES.dump(facts).replace('",null', "")  # arrays hold null
    assert len(PAGES.dump(facts)) < 4000
    empty = PageFacts(url="u", kind=facts.kind, fetched_at="t", html=HtmlFacts())
    assert PAGES.dump(empty) == '{"url":"u","kind":"html","fetched_at":"t","html":{}}'


EVIDENCE = st.builds(Evidence, TEXT, TEXT, TEXT, TEXT)
FINDINGS = st.builds(
    Finding,
    check=st.sampled_from(["title.missing", "http.4xx", "img.alt"]),
    url=TEXT,
    count=st.integers(1, 5),
    evidence=st.lists(EVIDENCE, min_size=1, max_size=3).map(tuple),
)


@given(st.lists(FINDINGS, max_size=12))
def test_findings_come_back_by_severity_and_in_their_order(findings: list[Finding]) -> None:
    log = FindingLog(io.BytesIO())
    for finding in findings:
        log.add(finding)
    order = ["http.4xx", "title.missing", "img.alt"]
    assert list(log) == [f for name in order for f in findings if f.check == name]
    assert len(log) == len(findings)


def test_findings_can_be_read_while_others_come() -> None:
    log = FindingLog(io.BytesIO())
    first, second = (finding_of("img.alt", url, [Evidence("img")]) for url in ("a", "b"))
    log.add(first)
    assert list(log) == [first]
    log.add(second)
    assert list(log.of("img.alt")) == [first, second]


def test_evidence_is_bounded_but_addresses_stay_whole() -> None:
    url = "https://a.example/" + "x" * 2000
    found = finding_of("img.alt", url, [Evidence("img", "v" * 900, "", url)] * 11)
    assert (found.count, len(found.evidence)) == (11, 10)
    assert (len(found.evidence[0].value), found.evidence[0].url, found.url) == (500, url, url)

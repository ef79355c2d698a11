"""The reports: each in its own format, with whole URLs, and with nothing executable."""

#

import codecs
import csv
import io
import json
import re
import runpy
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator
from lxml import html
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import Category, Evidence
from spinneret.audits.comparison import Known, compare
from spinneret.audits.facts.models import Lab
from spinneret.audits.findings import FindingLog, finding_of
from spinneret.audits.judging import AuditEvaluator, Result
from spinneret.audits.reports import csv_report, html_report, markdown_report
from spinneret.audits.reports.formats import RENDERERS
from spinneret.audits.reports.models import ReportContent
from spinneret.audits.reports.schema import AuditReport
from tests.unit.audits import broken
from tests.unit.audits.site import HOST

DOCS = Path(__file__).resolve().parents[3] / "docs"
HOSTILE = "</script><script>alert(1)</script>\"'&`|\x00\x1b\ud7ff"
LONG = f"{HOST}/{'long/' * 300}end"


@pytest.fixture(scope="module")
def result() -> Result:
    return _audited()[0]


@pytest.fixture(scope="module")
def report() -> ReportContent:
    """Provide the broken site's report with hostile values and a comparison with an earlier run."""
    result, log = _audited()
    log.add(finding_of("title.long", LONG, [Evidence("title", HOSTILE, HOSTILE, HOSTILE)]))
    log.add(finding_of("title.long", "javascript:alert(1)", [Evidence("title", "=1+1")]))
    hostile = replace(result.pages[1], title=HOSTILE[:40], url=LONG)
    result = replace(result, pages=(*result.pages, hostile))
    found = list(log)
    gone = [
        finding_of("h1.missing", f"{HOST}/{name}", [Evidence("h1")])
        for name in ("oak", "never", "pine")
    ]
    comparison = compare(
        [*found[10:], *gone],
        [finding.key for finding in found],
        known=Known(
            visited={page.url for page in result.pages},
            unchecked={("h1.missing", f"{HOST}/pine")},
        ),
        score_before=80,
        score_after=result.score.total,
        versions=("0", "1"),
    )
    return ReportContent(result=result, findings=log, comparison=comparison)


def _audited() -> tuple[Result, FindingLog]:
    log = FindingLog(io.BytesIO())
    audit = AuditEvaluator(f"{HOST}/", log.add)
    for page in broken.facts():
        audit.page(page)
    return audit.finish(broken.site_facts()), log


def text_of(report: ReportContent, name: str) -> str:
    return "".join(RENDERERS[name](report))


def test_the_json_report_has_everything_and_the_published_form(report: ReportContent) -> None:
    text = text_of(report, "json")
    schema = json.loads((DOCS / "audit-report.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(text))
    found = AuditReport.model_validate_json(text)
    assert [(each.check, each.url) for each in found.findings] == [f.key for f in report.findings]
    assert len(found.pages) == len(report.result.pages)
    assert len(found.checks) == len(catalogue())
    assert found.comparison is not None
    assert (found.comparison.new, found.comparison.catalogue_changed) == (10, True)
    assert [each.url for each in found.comparison.fixed] == [f"{HOST}/oak"]
    assert [each.url for each in found.comparison.not_seen] == [f"{HOST}/never"]
    assert [each.url for each in found.comparison.unchecked] == [f"{HOST}/pine"]
    assert sum(each.state == "new" for each in found.findings) == 10


def test_the_csv_report_has_a_row_for_each_evidence(report: ReportContent) -> None:
    text = text_of(report, "csv")
    assert text.encode().startswith(codecs.BOM_UTF8)
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len(rows) == sum(len(finding.evidence) for finding in report.findings)
    assert LONG in {row["page"] for row in rows}
    assert rows[0]["severity"] == "critical"
    assert rows[-1]["severity"] == "info"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "  ="])
def test_cells_that_a_spreadsheet_would_execute_are_guarded(result: Result, start: str) -> None:
    log = FindingLog(io.BytesIO())
    log.add(finding_of("img.alt", HOST, [Evidence("img", f"{start}1+1", "-", "a=b")]))
    text = "".join(csv_report.render(ReportContent(result=result, findings=log))).removeprefix(
        "\ufeff"
    )
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["value"], row["threshold"], row["url"]) == (f"'{start}1+1", "'-", "a=b")


def test_the_html_report_lists_what_changed(report: ReportContent, result: Result) -> None:
    root = html.fromstring(text_of(report, "html"))
    lists = {each.get("id"): each for each in root.xpath("//details[@class='change']")}
    assert list(lists) == ["new", "fixed", "not_seen", "unchecked"]
    links = {name: each.xpath(".//td//a/@href") for name, each in lists.items()}
    assert links["fixed"] == [f"{HOST}/oak"]
    assert links["not_seen"] == [f"{HOST}/never"]
    assert links["unchecked"] == [f"{HOST}/pine"]
    assert len(lists["new"].xpath(".//tbody/tr")) == 10
    assert "The page has no main heading" in lists["fixed"].text_content()
    alone = text_of(ReportContent(result=result, findings=report.findings), "html")
    assert not html.fromstring(alone).xpath("//details[@class='change']")


def test_the_html_report_s_lists_of_changes_are_bounded(result: Result) -> None:
    former = [
        finding_of("h1.missing", f"{HOST}/{number}", [Evidence("h1")])
        for number in range(html_report.MAX_CHANGED + 5)
    ]
    changes = compare(
        former,
        [],
        known=Known(visited={finding.url for finding in former}),
        score_before=1,
        score_after=2,
        versions=("1", "1"),
    )
    many = ReportContent(result=result, findings=FindingLog(io.BytesIO()), comparison=changes)
    [fixed] = html.fromstring(text_of(many, "html")).xpath("//details[@class='change']")
    assert len(fixed.xpath(".//tbody/tr")) == html_report.MAX_CHANGED + 1
    assert "and 5 more" in fixed.text_content()


def test_the_markdown_report_is_only_text(report: ReportContent) -> None:
    text = text_of(report, "md")
    assert f"# Audit of {HOST}/" in text
    assert not re.search(r"(?<!\\)[<>|]", text.partition("## Issues")[2])
    assert "\\</script\\>" in text
    assert LONG in text


def test_long_lists_say_how_much_is_left_out(result: Result) -> None:
    log = FindingLog(io.BytesIO())
    for number in range(200):
        log.add(finding_of("img.alt", f"{HOST}/{number}", [Evidence("img")] * 11))
    many = ReportContent(result=result, findings=log)
    assert f"and {200 - markdown_report.MAX_PAGES} more pages" in text_of(many, "md")
    assert f"and {200 - html_report.MAX_PAGES} more: see CSV or JSON" in text_of(many, "html")
    assert "and 100 more pages" in text_of(many, "junit")
    assert text_of(many, "csv").count("\r\n") == 2001


def test_the_junit_report_has_a_case_for_each_check(report: ReportContent) -> None:
    root = ET.fromstring(text_of(report, "junit"))
    assert [suite.get("name") for suite in root] == [str(category) for category in Category]
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    assert (len(cases), root.get("tests")) == (len(catalogue()), str(len(catalogue())))
    assert root.get("failures") == str(len(failures))
    assert sum(int(suite.get("failures", "")) for suite in root) == len(failures)
    assert sum(int(suite.get("skipped", "")) for suite in root) == len(
        root.findall("testsuite/testcase/skipped")
    )
    informing = {check.id for check in catalogue() if not check.weight}
    told = {
        case.get("name", "").partition(":")[0]
        for case in cases
        if case.find("system-out") is not None
    }
    found = {f.check for f in report.findings}
    assert told == found & informing != set()
    failing = found - informing
    named = {
        case.get("name", "").partition(":")[0]
        for case in cases
        if (failure := case.find("failure")) is not None and failure.get("type") != "blocked"
    }
    assert named == failing


# Requirements of OASIS SARIF 2.1.0 for the objects in the report, each with its section.
SARIF: dict[str, Any] = {
    "type": "object",  # 3.13 sarifLog
    "required": ["version", "runs"],  # 3.13.2, 3.13.4
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "pattern": "^https://"},  # 3.13.3
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {  # 3.14
            "type": "object",
            "required": ["tool", "results"],  # 3.14.6; 3.14.23 if there was a scan
            "additionalProperties": False,
            "properties": {
                "tool": {"$ref": "#/$defs/tool"},
                "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                "properties": {"type": "object"},  # 3.8
            },
        },
        "tool": {  # 3.18
            "type": "object",
            "required": ["driver"],  # 3.18.2
            "additionalProperties": False,
            "properties": {"driver": {"$ref": "#/$defs/component"}},
        },
        "component": {  # 3.19
            "type": "object",
            "required": ["name"],  # 3.19.8
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "rules": {
                    "type": "array",
                    "uniqueItems": True,
                    "items": {"$ref": "#/$defs/rule"},
                },
            },
        },
        "rule": {  # 3.49 reportingDescriptor
            "type": "object",
            "required": ["id"],  # 3.49.3
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": {"$ref": "#/$defs/text"},
                "help": {"$ref": "#/$defs/text"},
                "helpUri": {"type": "string", "pattern": "^https://"},
                "defaultConfiguration": {  # 3.50
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"level": {"$ref": "#/$defs/level"}},
                },
                "properties": {"type": "object"},
            },
        },
        "text": {  # 3.12 multiformatMessageString, 3.11 message
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {"text": {"type": "string", "minLength": 1}},
        },
        "level": {"enum": ["none", "note", "warning", "error"]},  # 3.27.10
        "invocation": {  # 3.20
            "type": "object",
            "required": ["executionSuccessful"],  # 3.20.14
            "additionalProperties": False,
            "properties": {
                "executionSuccessful": {"type": "boolean"},
                "endTimeUtc": {"type": "string", "pattern": "^[0-9-]{10}T[0-9:]{8}Z$"},  # 3.9
            },
        },
        "result": {  # 3.27
            "type": "object",
            "required": ["message", "ruleId", "locations"],  # 3.27.11, 3.27.5
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},  # 3.27.6
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/text"},
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {  # 3.27.17
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                },
                "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},  # 3.27.24
                "properties": {"type": "object"},
            },
        },
        "location": {  # 3.28, 3.29, 3.4
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "additionalProperties": False,
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "required": ["uri"],
                            "additionalProperties": False,
                            "properties": {"uri": {"type": "string"}},
                        }
                    },
                }
            },
        },
    },
}


def test_the_sarif_report_has_the_standard_s_form(report: ReportContent) -> None:
    found = json.loads(text_of(report, "sarif"))
    Draft202012Validator(SARIF).validate(found)
    [run] = found["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) == len(catalogue())
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]  # 3.27.6
    prints = [each["partialFingerprints"]["checkAndUrl/v1"] for each in run["results"]]
    assert len(set(prints)) == len(prints) == len(report.findings)
    assert sum(each["baselineState"] == "new" for each in run["results"]) == 10


def test_the_sarif_report_fits_the_published_schema(report: ReportContent) -> None:
    """The classes are generated from sarif-schema-2.1.0.json and refuse unknown names."""
    log = StaticAnalysisResultsFormatSarifVersion210JsonSchema
    assert len(log.model_validate_json(text_of(report, "sarif")).runs[0].results) > 100


@pytest.fixture(scope="module")
def page(report: ReportContent) -> html.HtmlElement:
    return html.document_fromstring(text_of(report, "html"))


def test_the_html_report_executes_nothing_but_its_own_script(
    report: ReportContent, page: html.HtmlElement
) -> None:
    assert text_of(report, "html").count("<script>") == 1
    assert len(page.findall(".//script")) == 1
    assert "alert(1)" not in page.findtext(".//script")
    assert not page.xpath("//@*[starts-with(name(), 'on')]")


def test_the_html_report_loads_nothing(page: html.HtmlElement) -> None:
    assert not page.xpath("//@src | //link | //iframe | //object | //img | //form")
    policy = page.xpath("//meta[@http-equiv]/@content")[0]
    assert policy.startswith("default-src 'none'")
    assert "url(" not in page.findtext(".//style")


def test_links_of_the_html_report_lead_to_the_web_only(page: html.HtmlElement) -> None:
    links = set(page.xpath("//a/@href"))
    assert LONG in links
    assert all(link.startswith(("https://", "http://")) for link in links)


def test_the_html_report_shows_issues_evidence_and_pages(
    report: ReportContent, page: html.HtmlElement
) -> None:
    issues = page.xpath("//details[@class='issue']")
    assert [each.get("data-severity") for each in issues[:1]] == ["critical"]
    assert len(issues) == len(report.issues)
    assert len(page.xpath("//section[last()]//tbody/tr")) == len(report.result.pages)
    assert "2 of 5 external links not checked" in page.text_content()
    assert "since the last run" in page.text_content()


def test_the_html_report_says_whether_scripts_were_run(result: Result) -> None:
    said = "Scripts of the site were not run"
    for lab, is_said in ((None, True), (Lab(), False)):
        pages = (replace(result.pages[0], lab=lab),)
        log = FindingLog(io.BytesIO())
        shown = ReportContent(result=replace(result, pages=pages), findings=log)
        assert (said in text_of(shown, "html")) is is_said


def test_a_site_without_issues_has_reports_too(result: Result) -> None:
    empty = ReportContent(result=replace(result, pages=()), findings=FindingLog(io.BytesIO()))
    for name in RENDERERS:
        assert text_of(empty, name)
    AuditReport.model_validate_json(text_of(empty, "json"))
    assert "None." in text_of(empty, "html")


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.heavy
def test_reports_are_never_whole_in_memory(result: Result, name: str, tmp_path: Path) -> None:
    with (tmp_path / "findings").open("w+b") as file:
        log = FindingLog(file)
        for number in range(4000):
            evidence = [Evidence("img", "x" * 400, "", f"{HOST}/{'i' * 200}")]
            log.add(finding_of("img.alt", f"{HOST}/{number}", evidence))
        large = ReportContent(result=result, findings=log)
        _drain(RENDERERS[name](replace(large)))  # fills the caches
        tracemalloc.start()
        _drain(RENDERERS[name](large))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 1_000_000  # 4,000 findings are 2.8 MB


def _drain(pieces: Iterator[str]) -> None:
    for _ in pieces:
        pass


def test_what_documentation_takes_from_the_code_is_up_to_date() -> None:
    render = runpy.run_path(str(DOCS / "render_audits.py"))
    page = (DOCS / "audits.md").read_text()
    assert render["rendered"](page) == page, "run python docs/render_audits.py"
    schema = (DOCS / "audit-report.schema.json").read_text()
    assert render["schema"]() == schema, "run python docs/render_audits.py"

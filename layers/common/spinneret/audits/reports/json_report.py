"""JSON report: the complete result of the audit."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from spinneret.audits.checks.catalogue import catalogue, ranked
from spinneret.audits.checks.models import Check
from spinneret.audits.comparison import RunComparison
from spinneret.audits.findings import Finding
from spinneret.audits.reports.models import ReportContent
from spinneret.audits.reports.schema import (
    CategoryRow,
    CheckRow,
    ComparisonRow,
    CoverageRow,
    EvidenceRow,
    FindingRow,
    Head,
    KeyRow,
    PageRow,
)
from spinneret.audits.scoring import CheckStats


def render(report: ReportContent) -> Iterator[str]:
    """Yield the report with one line for each page and each finding."""
    head = _head(report).model_dump_json()
    yield head[:-1]
    yield ',\n"pages":['
    yield from _rows(map(PageRow.model_validate, report.result.pages))
    yield '],\n"findings":['
    yield from _rows(_finding(report, finding) for finding in report.findings)
    yield "]}\n"


def _rows(models: Iterable[BaseModel]) -> Iterator[str]:
    separator = "\n"
    for model in models:
        yield separator + model.model_dump_json()
        separator = ",\n"


def _head(report: ReportContent) -> Head:
    result = report.result
    return Head(
        catalogue_version=result.catalogue_version,
        formula_version=result.formula_version,
        start_url=result.start_url,
        audited_at=result.audited_at,
        score=result.score.total,
        grade=report.grade,  # type: ignore[arg-type] # one of the five letters
        issues={severity.value: n for severity, n in result.issues.items()},
        coverage=CoverageRow.model_validate(result.coverage),
        categories=[
            CategoryRow(category=category, score=score)
            for category, score in result.score.categories.items()
        ],
        checks=[_check(check, result.score.tallies[check.id]) for check in ranked(catalogue())],
        comparison=_comparison(report.comparison) if report.comparison else None,
    )


def _check(check: Check[Any], tally: CheckStats) -> CheckRow:
    return CheckRow(
        id=check.id,
        title=check.title,
        category=check.category,
        severity=check.severity.value,
        scope=check.scope.value,
        weight=check.weight,
        advice=check.advice,
        source=check.source,
        applicable=tally.applicable,
        passed=tally.passed,
        failed=tally.failed,
        blocked=tally.blocked,
        points=tally.points,
    )


def _finding(report: ReportContent, finding: Finding) -> FindingRow:
    return FindingRow(
        check=finding.check,
        url=finding.url,
        count=finding.count,
        state=report.state(finding.key),  # type: ignore[arg-type] # one of the three words
        evidence=[EvidenceRow(**each._asdict()) for each in finding.evidence],
    )


def _comparison(comparison: RunComparison) -> ComparisonRow:
    return ComparisonRow(
        score_before=comparison.score_before,
        score_after=comparison.score_after,
        change=comparison.change,
        catalogue_changed=comparison.catalogue_changed,
        new=len(comparison.new),
        still=len(comparison.still),
        fixed=[KeyRow(check=check, url=url) for check, url in comparison.fixed],
        not_seen=[KeyRow(check=check, url=url) for check, url in comparison.not_seen],
        unchecked=[KeyRow(check=check, url=url) for check, url in comparison.unchecked],
    )

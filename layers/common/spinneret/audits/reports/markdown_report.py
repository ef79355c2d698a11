"""Markdown report, for people and for language models."""

import re
from collections.abc import Iterator
from typing import Final

from spinneret.audits.findings import Finding
from spinneret.audits.reports.models import PRODUCT, Issue, ReportContent

MAX_PAGES: Final = 20
"""Maximum number of pages listed per issue; further pages are only counted."""
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~&])")


def render(report: ReportContent) -> Iterator[str]:
    """Yield summary, categories, then the issues in order of severity."""
    result = report.result
    yield f"# Audit of {_escaped(result.start_url)}\n\n"
    yield f"Score **{result.score.total:.1f}** of 100 (grade {report.grade}), "
    yield f"{result.audited_at}, {sum(result.coverage.pages.values()):,} addresses. "
    yield f"Catalogue {result.catalogue_version}, formula {result.formula_version}.\n\n"
    for sentence in (*report.not_checked(), *report.changes()):
        yield f"- {sentence}\n"
    yield "\n## Categories\n\n| category | score |\n|---|---|\n"
    for category, score in result.score.categories.items():
        shown = "not applicable" if score is None else f"{score:.1f}"
        yield f"| {category.replace('_', ' ')} | {shown} |\n"
    yield "\n## Issues\n"
    for issue in report.issues:
        yield from _issue(report, issue)
    yield f"\n---\n{PRODUCT}\n"


def _issue(report: ReportContent, issue: Issue) -> Iterator[str]:
    check = issue.check
    yield f"\n### {_escaped(check.title)} ({check.severity}, `{check.id}`)\n\n"
    yield f"{_escaped(check.advice)} [Why]({check.source}). "
    yield f"Pages: {issue.pages:,}; points to gain: {issue.tally.points:.2f}.\n\n"
    for number, finding in enumerate(report.findings.of(check.id)):
        if number == MAX_PAGES:
            yield f"- and {issue.pages - MAX_PAGES:,} more pages: see the CSV or JSON report\n"
            break
        yield _row(finding, report.state(finding.key))


def _row(finding: Finding, state: str) -> str:
    first = finding.evidence[0] if finding.evidence else None
    said = ""
    if first is not None:
        parts = [first.where, first.value, f"expected: {first.threshold}", first.url]
        wanted = (part for part in parts if part and part != "expected: ")
        said = ": " + ", ".join(map(_escaped, wanted))
    more = f" (and {finding.count - 1:,} more)" if finding.count > 1 else ""
    new = " **new**" if state == "new" else ""
    return f"- {_escaped(finding.url)}{new}{said}{more}\n"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))

"""JUnit XML report for continuous integration, with a suite for each category."""

from collections.abc import Iterator
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import Category, Check
from spinneret.audits.reports.models import LEVELS, PRODUCT, ReportContent

MAX_PAGES: Final = 100
"""Maximum number of pages named in a failure."""


def render(report: ReportContent) -> Iterator[str]:
    """Yield a test case per check: passed, failed, or skipped if not applicable.

    Blocked checks are failures, too. A check for information only passes, with its findings as
    output.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f"<testsuites name={quoteattr(f'{PRODUCT} audit of {report.result.start_url}')}"
        f' tests="{len(catalogue())}"'
        f' failures="{sum(_fails(report, check) for check in catalogue())}">\n'
    )
    for category in Category:
        checks = [check for check in catalogue() if check.category is category]
        yield from _suite(report, category, checks)
    yield "</testsuites>\n"


def _suite(report: ReportContent, category: Category, checks: list[Check[Any]]) -> Iterator[str]:
    tallies = [report.result.score.tallies[check.id] for check in checks]
    failures = sum(_fails(report, check) for check in checks)
    skipped = sum(1 for tally in tallies if not tally.applicable and not tally.failed)
    yield (
        f'<testsuite name="{category}" tests="{len(checks)}" failures="{failures}" errors="0"'
        f' skipped="{skipped}" timestamp={quoteattr(report.result.audited_at[:19])}>\n'
    )
    for check, tally in zip(checks, tallies, strict=True):
        yield f'<testcase classname="{category}" name={quoteattr(f"{check.id}: {check.title}")}>'
        if tally.failed and not check.weight:
            yield "<system-out>"
            yield from _pages(report, check)
            yield "</system-out>"
        elif tally.failed:
            message = f"{tally.failed} of {tally.applicable}: {check.advice}"
            yield f'<failure type="{LEVELS[check.severity]}" message={quoteattr(message)}>'
            yield from _pages(report, check)
            yield "</failure>"
        elif tally.blocked:
            message = f"can't be judged while one of these fails: {', '.join(check.after)}"
            yield f'<failure type="blocked" message={quoteattr(message)}/>'
        elif not tally.applicable:
            yield "<skipped/>"
        yield "</testcase>\n"
    yield "</testsuite>\n"


def _fails(report: ReportContent, check: Check[Any]) -> bool:
    tally = report.result.score.tallies[check.id]
    return bool(tally.blocked or (tally.failed and check.weight))


def _pages(report: ReportContent, check: Check[Any]) -> Iterator[str]:
    for number, finding in enumerate(report.findings.of(check.id)):
        if number == MAX_PAGES:
            yield f"\nand {report.findings.count(check.id) - MAX_PAGES} more pages"
            break
        said = "; ".join(" ".join(part for part in each if part) for each in finding.evidence[:3])
        yield f"\n{escape(finding.url)}: {escape(said)}"

"""Findings as CSV (RFC 4180): a row for each piece of evidence, with complete URLs."""

import csv
import io
from collections.abc import Iterator
from typing import Final

from spinneret.audits.reports.models import ReportContent

COLUMNS: Final = (
    *("severity", "category", "check", "title", "page", "count", "state", "where", "value"),
    *("threshold", "url", "advice", "source"),
)
_BYTE_ORDER_MARK: Final = "\ufeff"  # without it, Excel reads UTF-8 as the system's code page
# Spreadsheets execute cells that begin with these characters (OWASP, "CSV Injection").
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def render(report: ReportContent) -> Iterator[str]:
    """Yield the CSV with a byte-order mark and a header.

    Cells that spreadsheets would execute get an apostrophe.
    """
    yield _BYTE_ORDER_MARK + _line(COLUMNS)
    for issue in report.issues:
        check = issue.check
        for finding in report.findings.of(check.id):
            for evidence in finding.evidence:
                yield _line(
                    (
                        check.severity,
                        check.category,
                        check.id,
                        check.title,
                        finding.url,
                        str(finding.count),
                        report.state(finding.key),
                        evidence.where,
                        evidence.value,
                        evidence.threshold,
                        evidence.url,
                        check.advice,
                        check.source,
                    )
                )


def _line(cells: tuple[str, ...]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_guarded(cell) for cell in cells])
    return buffer.getvalue()


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) else cell

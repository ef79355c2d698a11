"""Renderers of the formats of reports."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from spinneret.audits.models import FormatName
from spinneret.audits.reports import (
    csv_report,
    html_report,
    json_report,
    junit_report,
    markdown_report,
    sarif_report,
)
from spinneret.audits.reports.models import ReportContent

RENDERERS: Final[Mapping[FormatName, Callable[[ReportContent], Iterator[str]]]] = {
    "json": json_report.render,
    "csv": csv_report.render,
    "html": html_report.render,
    "md": markdown_report.render,
    "junit": junit_report.render,
    "sarif": sarif_report.render,
}
"""Functions that yield pieces of text, to be encoded as UTF-8."""

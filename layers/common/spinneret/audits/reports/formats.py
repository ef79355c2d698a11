"""Formats of the report route."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from spinneret.audits.reports import (
    csv_report,
    html_report,
    json_report,
    junit_report,
    markdown_report,
    sarif_report,
)
from spinneret.audits.reports.models import Report


@dataclass(frozen=True, slots=True)
class Format:
    """Renderer of a report, with media type and file extension."""

    media_type: str
    extension: str
    render: Callable[[Report], Iterator[str]]
    """Yields pieces of text, to be encoded as UTF-8."""


FORMATS: Final = {
    "json": Format("application/json", "json", json_report.render),
    "csv": Format("text/csv; charset=utf-8", "csv", csv_report.render),
    "html": Format("text/html; charset=utf-8", "html", html_report.render),
    "md": Format("text/markdown; charset=utf-8", "md", markdown_report.render),
    "junit": Format("application/xml", "xml", junit_report.render),
    "sarif": Format("application/sarif+json", "sarif", sarif_report.render),
}

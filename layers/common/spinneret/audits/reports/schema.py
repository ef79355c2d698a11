"""Models of the JSON report, published as docs/audit-report.schema.json."""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Final = "1.0"
"""The first number increases if readers of the old form can't read the new one."""
_SHARE: Final = Field(ge=0, le=100)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)


class EvidenceRow(_Model):
    """Location of a fault, with the value found and the expected one."""

    where: str = Field(description="Selector, header or other name of the location.")
    value: str
    threshold: str = Field(description="Bound that was exceeded, or the expected value.")
    url: str = Field(description="URL of the location; empty if it is the page itself.")


class FindingRow(_Model):
    """A check that a page or the site failed."""

    check: str
    url: str = Field(description="URL of the page; of the start page for checks of the site.")
    count: int = Field(ge=1, description="Number of occurrences; `evidence` holds the first ten.")
    state: Literal["new", "still", ""] = Field(
        description="Comparison with an earlier run; empty without one."
    )
    evidence: list[EvidenceRow]


class LabRow(_Model):
    """Figures of one visit in a browser of a data centre, of no visitor's."""

    first_contentful_paint_ms: int | None
    largest_contentful_paint_ms: int | None
    layout_shift: float | None
    transferred_bytes: int = Field(description="Of the page and all that it loads, as encoded.")


class PageRow(_Model):
    """A URL that the audit visited or should have visited."""

    url: str
    kind: Literal["html", "redirect", "other", "failed"]
    status: int | None
    score: float | None = _SHARE
    title: str
    words: int
    clicks: int | None = Field(
        description="Clicks from the start page; null if no links lead there."
    )
    issues: dict[str, int] = Field(description="Numbers of issues by severity.")
    lab: LabRow | None = Field(
        default=None, description="Lab figures; null unless a browser opened the page."
    )


class CheckRow(_Model):
    """A check of the catalogue, with its results."""

    id: str
    title: str
    category: str
    severity: Literal["critical", "high", "medium", "low", "info"]
    scope: Literal["page", "page_in_site", "site"]
    weight: int
    advice: str
    source: str
    applicable: int = Field(description="Pages that it applies to; 1 or 0 for checks of the site.")
    passed: int
    failed: int
    blocked: int = Field(description="Pages not judged because another check fails.")
    points: float = Field(description="Points that the score gains if all failures are fixed.")


class CategoryRow(_Model):
    """A group of checks."""

    category: str
    score: float | None = Field(ge=0, le=100, description="null if no check applies.")


class CoverageRow(_Model):
    """Numbers of pages, links and images, checked and not checked."""

    pages: dict[str, int] = Field(description="Numbers of pages by kind.")
    pages_not_visited: int
    external_links: int
    external_links_checked: int
    images: int
    images_checked: int


class KeyRow(_Model):
    """An issue of another run."""

    check: str
    url: str


class ComparisonRow(_Model):
    """Changes since an earlier run."""

    score_before: float
    score_after: float
    change: float
    catalogue_changed: bool
    new: int
    still: int
    fixed: list[KeyRow]
    not_seen: list[KeyRow] = Field(description="Issues of pages that this run didn't visit.")
    unchecked: list[KeyRow] = Field(
        description="Issues of visited pages that this run couldn't judge: neither fixed nor there."
    )


class Head(_Model):
    """The report without its long lists."""

    schema_version: Literal["1.0"] = "1.0"
    catalogue_version: str
    formula_version: str
    start_url: str
    audited_at: str
    score: float = _SHARE
    grade: Literal["A", "B", "C", "D", "F"]
    issues: dict[str, int] = Field(description="Numbers of issues by severity.")
    coverage: CoverageRow
    categories: list[CategoryRow]
    checks: list[CheckRow]
    comparison: ComparisonRow | None


class AuditReport(Head):
    """A complete report."""

    pages: list[PageRow]
    findings: list[FindingRow] = Field(
        description="Findings sorted by severity, category and weight."
    )


def json_schema() -> dict[str, Any]:
    """Return the report's JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"version {SCHEMA_VERSION}; written by docs/render_audits.py",
        **AuditReport.model_json_schema(),
    }

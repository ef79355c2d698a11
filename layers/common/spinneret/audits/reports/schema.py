"""Models of the JSON report, published as docs/audit-report.schema.json."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Final = "1.0"
"""The first number increases if readers of the old form can't read the new one."""
_SHARE: Final = Field(ge=0, le=100)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EvidenceRow(_Model):
    """Where something is wrong, what stands there, and what should."""

    where: str = Field(description="A selector, a header, or another name of the place.")
    value: str
    threshold: str = Field(description="The bound that is passed, or the expected value.")
    url: str = Field(description="Where that isn't the page itself; empty otherwise.")


class FindingRow(_Model):
    """A check that a page, or the site, failed."""

    check: str
    url: str = Field(description="Of the page; the start page's for checks of the site.")
    count: int = Field(ge=1, description="How often; `evidence` holds the first ten.")
    state: Literal["new", "still", ""] = Field(
        description="Beside an earlier run; empty without one."
    )
    evidence: list[EvidenceRow]


class PageRow(_Model):
    """A URL that was visited, or should have been."""

    url: str
    kind: Literal["html", "redirect", "other", "failed"]
    status: int | None
    score: float | None = _SHARE
    title: str
    words: int
    clicks: int | None = Field(description="From the start page; null where no links lead there.")
    issues: dict[str, int] = Field(description="By severity.")


class CheckRow(_Model):
    """A check of the catalogue, and how it went."""

    id: str
    title: str
    category: str
    severity: Literal["critical", "high", "medium", "low", "info"]
    scope: Literal["page", "page_in_site", "site"]
    weight: int
    advice: str
    source: str
    applicable: int = Field(description="Pages it applies to; 1 or 0 for the site's.")
    passed: int
    failed: int
    blocked: int = Field(description="Not to be judged while another check fails.")
    points: float = Field(description="What the score gains where all these are mended.")


class CategoryRow(_Model):
    """A group of checks."""

    category: str
    score: float | None = Field(ge=0, le=100, description="null where nothing applies.")


class CoverageRow(_Model):
    """What was checked, and what wasn't."""

    pages: dict[str, int] = Field(description="By kind.")
    pages_not_visited: int
    external_links: int
    external_links_checked: int
    images: int
    images_checked: int


class KeyRow(_Model):
    """An issue in another run."""

    check: str
    url: str


class ComparisonRow(_Model):
    """What changed since an earlier run."""

    score_before: float
    score_after: float
    change: float
    catalogue_changed: bool
    new: int
    still: int
    fixed: list[KeyRow]
    not_seen: list[KeyRow] = Field(description="Of pages that this run didn't visit.")


class Head(_Model):
    """The report without its long lists."""

    schema_version: Literal["1.0"] = "1.0"
    catalogue_version: str
    formula_version: str
    start_url: str
    audited_at: str
    score: float = _SHARE
    grade: Literal["A", "B", "C", "D", "F"]
    issues: dict[str, int] = Field(description="By severity.")
    coverage: CoverageRow
    categories: list[CategoryRow]
    checks: list[CheckRow]
    comparison: ComparisonRow | None


class AuditReport(Head):
    """A whole report."""

    pages: list[PageRow]
    findings: list[FindingRow] = Field(description="By severity, category, weight.")


def json_schema() -> dict[str, Any]:
    """Return the report's JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"version {SCHEMA_VERSION}; written by docs/render_audits.py",
        **AuditReport.model_json_schema(),
    }

"""Responses about an audit's issues and artifacts."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, Field

from spinneret.audits.checks.catalogue import by_id
from spinneret.audits.comparison import Key, RunComparison
from spinneret.audits.issues import LoggedIssue
from spinneret.kernel.views import ListOf, Timestamp, View

StateName = Literal["new", "fixed", "still", "not_seen", "unchecked"]


class IssueEvidenceView(BaseModel):
    """Location of a fault, with the value found and the expected one."""

    where: str
    """Place on the page, such as an element."""
    value: str
    """Value that was found."""
    threshold: str
    """Value that the check expects."""
    url: str


class IssueView(BaseModel):
    """A check that a page or the site failed."""

    check: str
    """Id of the check."""
    title: str
    """Title of the check."""
    category: str
    """Category of the check."""
    severity: str
    url: str
    count: int
    """Number of places with the fault."""
    state: Literal["new", "still", ""]
    """Comparison with the previous audit; empty if there is none."""
    advice: str
    """Remedy for people."""
    source: str
    """URL of the rule on which the check is based."""
    evidence: list[IssueEvidenceView]
    """Examples of places with the fault."""


class IssueList(ListOf[IssueView]):
    """A page of issues, sorted by severity, category and weight."""


class ArtifactView(View):
    """An object that the audit stored."""

    artifact_id: Annotated[str, Field(validation_alias="id")]
    """Id of the artifact."""
    type: str
    """Type of the artifact, such as `report_html`."""
    storage_uri: str
    """Key of the stored object."""
    url: str | None
    """URL that returns the object for a limited time; null if the object is deleted."""
    created_at: Timestamp
    retention_until: Timestamp | None
    """Earliest time of deletion; null if it is kept without an end."""
    deleted_at: Timestamp | None


class ArtifactList(ListOf[ArtifactView]):
    """A page of artifacts."""


class ChangedIssueView(BaseModel):
    """An issue that one or both of two audits have."""

    check: str
    """Id of the check."""
    title: str
    """Title of the check."""
    severity: str
    url: str
    """URL of the page; the site's for a check of the whole site."""
    state: StateName
    """`not_seen`: the later audit didn't visit the page. `unchecked`: it did, but couldn't judge
    the check, as a link or image wasn't requested, the page wasn't readable, or a check that blocks
    this one failed."""


class ComparisonView(BaseModel):
    """Comparison of an audit with an earlier one, and a page of issues grouped by their change."""

    audit_id: str
    """Id of the later audit."""
    compared_with: str
    """Id of the earlier audit."""
    score_before: float
    """Total score of the earlier audit, 0 to 100."""
    score_after: float
    """Total score of the later audit, 0 to 100."""
    change: float
    """Difference of the scores; above 0 is better."""
    catalogue_changed: bool
    """Whether the checks changed in between, which may explain some differences."""
    new: int
    """Number of issues only in the later audit."""
    fixed: int
    """Number of issues only in the earlier audit, on pages that both saw."""
    still: int
    """Number of issues in both audits."""
    not_seen: int
    """Number of earlier issues on pages that the later audit didn't see."""
    unchecked: int
    """Number of earlier issues whose check the later audit couldn't do."""
    items: list[ChangedIssueView]
    next_cursor: str | None
    has_more: bool


@dataclass(frozen=True, kw_only=True)
class IssueFilter:
    """Filter of a list of issues; None selects all."""

    check: str | None = None
    category: str | None = None
    severity: str | None = None
    state: str | None = None

    def shows(self, issue: IssueView) -> bool:
        """Return whether the issue passes the filter."""
        wanted = (self.check, self.category, self.severity, self.state)
        shown = (issue.check, issue.category, issue.severity, issue.state)
        return all(want in (None, value) for want, value in zip(wanted, shown, strict=True))


def issue_view(issue: LoggedIssue) -> IssueView:
    """Return the view of an issue, with the check's description in the current catalogue."""
    finding = issue.finding
    check = by_id().get(finding.check)
    return IssueView(
        check=finding.check,
        title=check.title if check else finding.check,
        category=check.category.value if check else "",
        severity=check.severity.value if check else "",
        url=finding.url,
        count=finding.count,
        state=issue.state,  # type: ignore[arg-type]  # written by ReportContent.state
        advice=check.advice if check else "",
        source=check.source if check else "",
        evidence=[IssueEvidenceView(**each._asdict()) for each in finding.evidence],
    )


def changed_issues(comparison: RunComparison, state: StateName | None) -> list[ChangedIssueView]:
    """Return the issues of a comparison, new ones first."""
    return [
        _changed(key, name)
        for name in get_args(StateName)
        if state in (None, name)
        for key in getattr(comparison, name)
    ]


def _changed(key: Key, state: StateName) -> ChangedIssueView:
    name, url = key
    check = by_id().get(name)
    return ChangedIssueView(
        check=name,
        title=check.title if check else name,
        severity=check.severity.value if check else "",
        url=url,
        state=state,
    )

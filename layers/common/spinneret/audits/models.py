"""Values of audit jobs: progress, artifacts, results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, Self

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class RunRef:
    """One run of one audit: a retry audits the whole site again."""

    tenant: str
    audit_id: str
    run: int

    @property
    def session_id(self) -> str:
        """Id of the run's session at the host, independent of the worker."""
        return f"{self.tenant}/{self.audit_id}/{self.run}"

    @classmethod
    def of_session(cls, session_id: str) -> Self:
        """Parse a `session_id`."""
        tenant, audit_id, run = session_id.rsplit("/", 2)
        return cls(tenant=tenant, audit_id=audit_id, run=int(run))

    @property
    def folder(self) -> str:
        """Key prefix of its objects."""
        return f"T/{self.tenant}/audits/{self.audit_id}/{self.run}"


class AuditPhase(StrEnum):
    """Phase of an audit run."""

    SETTLING = "settling"
    """Find the host that responds, robots.txt, sitemaps."""
    CRAWLING = "crawling"
    CHECKING = "checking links"
    JUDGING = "judging"
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a run, stored for its next worker."""

    ref: RunRef
    phase: AuditPhase = AuditPhase.SETTLING
    lock_attempts: int = 0
    """Number of refusals by the host's lock so far (F-04)."""
    start_url: str | None = None
    """URL after the redirects of the requested URL."""
    site_uri: str | None = None
    """Key of the facts of the site."""
    probed: tuple[str, ...] = ()
    """Probes of the site that are answered."""
    refused_since: datetime | None = None
    """Since when the site has only refused or failed; None after any other answer."""
    refusal: str = ""
    """Its first refusal or failure, in words."""
    out_of_time: bool = False
    """The sample is incomplete, as the audit's own time ran out."""
    result: Mapping[str, Any] | None = None


class ArtifactType(StrEnum):
    """Type of an artifact."""

    HTML_GZ = "html_gz"
    """The original page, compressed; the only type that expires (A-03)."""
    SITE_FACTS = "site_facts"
    ISSUES = "issues"
    """The issue log that the routes read."""
    REPORT_JSON = "report_json"
    REPORT_CSV = "report_csv"
    REPORT_HTML = "report_html"
    REPORT_MD = "report_md"
    REPORT_JUNIT = "report_junit"
    REPORT_SARIF = "report_sarif"

    @property
    def is_result(self) -> bool:
        """Whether the claim that finishes a run writes it."""
        return self not in (ArtifactType.HTML_GZ, ArtifactType.SITE_FACTS)


class ReportFile(NamedTuple):
    """Type and extension of a report's file."""

    media_type: str
    extension: str


FormatName = Literal["json", "csv", "html", "md", "junit", "sarif"]
REPORTS: Final[Mapping[FormatName, ReportFile]] = {
    "json": ReportFile("application/json", "json"),
    "csv": ReportFile("text/csv; charset=utf-8", "csv"),
    "html": ReportFile("text/html; charset=utf-8", "html"),
    "md": ReportFile("text/markdown; charset=utf-8", "md"),
    "junit": ReportFile("application/xml", "xml"),
    "sarif": ReportFile("application/sarif+json", "sarif"),
}


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One object that a run made. Its row is written first, so that no object lacks a row."""

    ref: RunRef
    type: ArtifactType
    storage_uri: str
    """Key in the audits bucket."""
    created_at: datetime
    url: str | None = None
    """URL of the page that it was made from."""
    retention_until: datetime | None = None
    deleted_at: datetime | None = None

    @property
    def id(self) -> str:
        """Id that is the same for the same object of the same run."""
        return f"{self.ref.run:04}-{self.type}-{fingerprint(self.storage_uri)[:32]}"


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A finished run with the values that later audits of the site compare."""

    ref: RunRef
    site_key: str
    start_url: str
    finished_at: datetime
    score: float
    catalogue_version: str
    issues_uri: str

    @property
    def folder(self) -> str:
        """Key prefix of its issues and reports, which one claim wrote."""
        return self.issues_uri.rpartition("/")[0]

    def report_uri(self, name: FormatName) -> str:
        """Key of a report."""
        return f"{self.folder}/report-{name}.{REPORTS[name].extension}"

    @property
    def place(self) -> str:
        """Sort key among the audits of its site, by time."""
        moment = self.finished_at.strftime("%Y%m%dT%H%M%S%f")
        return f"{moment}#{self.ref.audit_id}#{self.ref.run:04}"


def site_key(recipe: str, host: str) -> str:
    """Return the key of the site: audits with the same recipe and host are compared."""
    return fingerprint([recipe, host])[:32]

"""Values of audits as jobs: how far one is, what it made, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class RunRef:
    """One run of one audit: a retry audits the site anew."""

    tenant: str
    audit_id: str
    run: int

    @property
    def session_id(self) -> str:
        """Of its session at the host, whichever worker is at it."""
        return f"{self.tenant}/{self.audit_id}/{self.run}"

    @classmethod
    def of_session(cls, session_id: str) -> Self:
        """The inverse of `session_id`."""
        tenant, audit_id, run = session_id.rsplit("/", 2)
        return cls(tenant=tenant, audit_id=audit_id, run=int(run))

    @property
    def folder(self) -> str:
        """Where its objects are."""
        return f"T/{self.tenant}/audits/{self.audit_id}/{self.run}"


class Phase(StrEnum):
    """What an audit is at."""

    SETTLING = "settling"
    """Which host answers, robots.txt, sitemaps."""
    CRAWLING = "crawling"
    CHECKING = "checking links"
    JUDGING = "judging"
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is, as its next worker has to know it."""

    ref: RunRef
    phase: Phase = Phase.SETTLING
    lock_attempts: int = 0
    """Refusals by the host's lock so far (F-04)."""
    start_url: str | None = None
    """Behind the redirects of the URL that was asked for."""
    site_uri: str | None = None
    """Where the facts of the site are."""
    probed: tuple[str, ...] = ()
    """Questions about the site that have their answer."""
    out_of_time: bool = False
    """The sample isn't complete: the audit's own time was up."""
    result: Mapping[str, Any] | None = None


class ArtifactType(StrEnum):
    """What an artifact is."""

    HTML_GZ = "html_gz"
    """The page as it came, compressed; the only type that ends (A-03)."""
    SITE_FACTS = "site_facts"
    ISSUES = "issues"
    """The log of issues that the routes read."""
    REPORT_JSON = "report_json"
    REPORT_CSV = "report_csv"
    REPORT_HTML = "report_html"
    REPORT_MD = "report_md"
    REPORT_JUNIT = "report_junit"
    REPORT_SARIF = "report_sarif"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One object that a run made. Its row is written before the object: none is without a row."""

    ref: RunRef
    type: ArtifactType
    storage_uri: str
    """Key in the bucket of audits."""
    created_at: datetime
    url: str | None = None
    """The page that it is of."""
    retention_until: datetime | None = None
    deleted_at: datetime | None = None

    @property
    def id(self) -> str:
        """The same for the same object of the same run."""
        return f"{self.ref.run:04}-{self.type}-{fingerprint(self.storage_uri)[:32]}"


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run with its result: what later audits of the site are compared with."""

    ref: RunRef
    site_key: str
    start_url: str
    finished_at: datetime
    score: float
    catalogue_version: str
    issues_uri: str

    @property
    def place(self) -> str:
        """Its place among the audits of its site: by time."""
        moment = self.finished_at.strftime("%Y%m%dT%H%M%S%f")
        return f"{moment}#{self.ref.audit_id}#{self.ref.run:04}"


def site_key(recipe: str, host: str) -> str:
    """What audits are of the same site: comparison goes by recipe and host."""
    return fingerprint([recipe, host])[:32]

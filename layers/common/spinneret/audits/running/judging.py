"""The end of an audit: checks, score, comparison, reports."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import IO, Any, Final

from spinneret.audits import issues, limits
from spinneret.audits.checks.catalogue import numbers
from spinneret.audits.comparison import Known, RunComparison, compare
from spinneret.audits.facts.models import Lab, ReadFailure
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import AuditEvaluator, Result
from spinneret.audits.models import REPORTS, ArtifactType, AuditPhase, Finished, Progress, site_key
from spinneret.audits.reports.formats import RENDERERS
from spinneret.audits.reports.models import ReportContent
from spinneret.audits.running.slices import AuditContext
from spinneret.audits.running.storage import Storage
from spinneret.jobs.models import Failure
from spinneret.jobs.worker import ReleaseJob
from spinneret.kernel.service import service
from spinneret.web.fetching.urls import parse_url
from spinneret.web.politeness.rules import host_key

PAGES_UNREAD: Final = "PAGES_UNREAD"
"""Code of a partial audit: pages of its sample didn't respond."""
OUT_OF_TIME: Final = "AUDIT_OUT_OF_TIME"
"""Code of a partial audit: its own time ran out before its sample was complete."""
_UNREAD: Final = frozenset({ReadFailure.TIMEOUT, ReadFailure.NETWORK})


@service
class ReportBuilder:
    """Evaluates stored facts; repeating it after a crash gives the same results.

    S3 doesn't check the fence, so each claim writes objects of its own. The row of the finished run
    names the objects of its claim.
    """

    storage: Storage

    def run(self, work: AuditContext, progress: Progress) -> Mapping[str, Any]:
        """Return the audit's summary. Raise ReleaseJob or LeaseLost."""
        work.checkpoint(AuditPhase.JUDGING, 90)
        if work.context.remaining() < limits.JUDGE_SECONDS and not work.is_fresh:
            raise ReleaseJob
        with tempfile.TemporaryFile() as file:
            judgement = self._judged(work, progress, file)
            return self._reported(work, progress, judgement)

    def _judged(self, work: AuditContext, progress: Progress, file: IO[bytes]) -> _Judgement:
        site = self.storage.site(progress)
        assert site is not None  # settling has stored it
        outcomes, _ = self.storage.store.outcomes(work.ref)
        log = FindingLog(file)
        audit = AuditEvaluator(
            site.start_url, log.add, work.context.job.payload.get("checks_off", ())
        )
        unread = 0
        for facts in self.storage.pages(work.ref):
            unread += facts.failure in _UNREAD
            audit.page(facts)
        now = work.clock()
        result = audit.finish(replace(site, outcomes=outcomes, audited_at=now.isoformat()))
        finished = Finished(
            ref=work.ref,
            site_key=site_key(_way_of(work), host_key(parse_url(site.start_url).host)),
            start_url=site.start_url,
            finished_at=now,
            score=result.score.total,
            catalogue_version=result.catalogue_version,
            issues_uri=f"{work.ref.folder}/{work.context.lease.fence}/issues.jsonl.gz",
        )
        before = self.storage.store.finished_before(
            work.ref.tenant, finished.site_key, finished.place
        )
        comparison = None if before is None else self._compared(before, finished, result, log)
        return _Judgement(
            report=ReportContent(result=result, findings=log, comparison=comparison),
            finished=finished,
            before=before,
            unread=unread,
        )

    def _compared(
        self, before: Finished, after: Finished, result: Result, log: FindingLog
    ) -> RunComparison | None:
        """Compare with the previous audit; return None if its issues were deleted."""
        stored = self.storage.bodies.get(before.issues_uri)
        if stored is None:
            return None
        return compare(
            issues.IssueLog(stored).findings(),
            (finding.key for finding in log),
            known=known_to(result),
            score_before=before.score,
            score_after=after.score,
            versions=(before.catalogue_version, after.catalogue_version),
        )

    # ------------------------------------------------------------ Reports

    def _reported(
        self, work: AuditContext, progress: Progress, judgement: _Judgement
    ) -> Mapping[str, Any]:
        report, finished = judgement.report, judgement.finished
        logged = (
            issues.LoggedIssue(finding=finding, state=report.state(finding.key))
            for finding in report.findings
        )
        self.storage.put_text(
            work,
            ArtifactType.ISSUES,
            finished.issues_uri,
            issues.written(
                report.result.start_url,
                finished.score,
                finished.catalogue_version,
                known_to(report.result),
                logged,
            ),
            "application/gzip",
            compressed=True,
        )
        for name, file in REPORTS.items():
            work.context.checkpoint(f"report {name}", 95)
            self.storage.put_text(
                work,
                ArtifactType(f"report_{name}"),
                finished.report_uri(name),
                RENDERERS[name](report),
                file.media_type,
            )
        result = summary(judgement, progress)
        done = replace(progress, phase=AuditPhase.DONE, result=result)
        self.storage.store.finish(done, finished, work.context.lease)
        return result


def _way_of(work: AuditContext) -> str:
    """Return the recipe, with `+render` if a browser opens the pages: only audits of the same way
    are compared by themselves."""
    payload = work.context.job.payload
    return f"{payload['recipe']}{'+render' if payload.get('render') else ''}"


@dataclass(frozen=True, kw_only=True)
class _Judgement:
    report: ReportContent
    finished: Finished
    before: Finished | None
    unread: int


def summary(judgement: _Judgement, progress: Progress) -> dict[str, Any]:
    """Return the result of the job."""
    result, comparison = judgement.report.result, judgement.report.comparison
    coverage = result.coverage
    return {
        "start_url": result.start_url,
        "score": result.score.total,
        "grade": judgement.report.grade,
        "categories": {
            category.value: score for category, score in result.score.categories.items()
        },
        "issues": {severity.value: count for severity, count in result.issues.items()},
        "pages": {kind.value: count for kind, count in coverage.pages.items()},
        "pages_not_visited": coverage.pages_not_visited,
        "external_links": coverage.external_links,
        "external_links_checked": coverage.external_links_checked,
        "images": coverage.images,
        "images_checked": coverage.images_checked,
        "catalogue_version": result.catalogue_version,
        "formula_version": result.formula_version,
        "compared_with": judgement.before.ref.audit_id if judgement.before else None,
        "score_change": comparison.change if comparison else None,
        "new_issues": len(comparison.new) if comparison else None,
        "fixed_issues": len(comparison.fixed) if comparison else None,
        "unread_pages": judgement.unread,
        "out_of_time": progress.out_of_time,
        **lab_summary(result),
    }


def lab_summary(result: Result) -> dict[str, Any]:
    """Return the medians of the pages' lab figures; nothing if no browser opened a page."""
    found = [page.lab for page in result.pages if page.lab is not None]
    if not found:
        return {}
    figures = {
        name: [value for each in found if (value := getattr(each, name)) is not None]
        for name in Lab._fields
    }
    medians = {name: median(values) if values else None for name, values in figures.items()}
    return {"lab": {"pages": len(found), **medians}}


def lack_of(result: Mapping[str, Any]) -> Failure | None:
    """Return the reason if the audit is partial, else None."""
    if result["out_of_time"]:
        return Failure(
            code=OUT_OF_TIME,
            message="the audit ran out of time before its sample was complete",
            type="transient",
        )
    unread = result["unread_pages"]
    if not unread:
        return None
    noun = "page" if unread == 1 else "pages"
    return Failure(code=PAGES_UNREAD, message=f"{unread} {noun} didn't answer", type="transient")


def known_to(result: Result) -> Known:
    """Return the extent of a run."""
    return Known(
        visited=dict.fromkeys([result.start_url, *(page.url for page in result.pages)]),
        unchecked=result.unchecked,
        unasked=result.unasked,
        checks=numbers(),
        start_url=result.start_url,
    )

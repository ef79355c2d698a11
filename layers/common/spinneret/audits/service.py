"""Audits of one tenant: the use cases behind the routes."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, get_args

from spinneret.audits import limits
from spinneret.audits.api_models import (
    CHOICES,
    AuditList,
    AuditRequest,
    AuditSubmission,
    AuditView,
    ReportView,
    audit_view,
)
from spinneret.audits.comparison import RunComparison, compare
from spinneret.audits.issue_models import (
    ComparisonView,
    IssueFilter,
    IssueList,
    StateName,
    changed_issues,
    issue_view,
)
from spinneret.audits.issues import IssueLog
from spinneret.audits.kinds import AUDIT
from spinneret.audits.models import REPORTS, Artifact, Finished, FormatName, RunRef
from spinneret.audits.options import checked_urls, require_renderable, sample_for
from spinneret.audits.ports import AuditObjectStore, AuditStore
from spinneret.audits.recipes import RECIPES, Recipe
from spinneret.audits.request_headers import HeaderIntake, SealedHeaders
from spinneret.jobs.control import JobControl
from spinneret.jobs.models import (
    Draft,
    Job,
    JobFilter,
    JobRef,
    JobStatus,
    Priority,
    Reply,
    RequestKey,
    Transition,
)
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.kernel.paging import Page, cursor_of
from spinneret.kernel.service import service
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.rules import host_key


@service
class AuditService:
    """Audits of one tenant. Methods raise DependencyUnavailable, and NotFound for foreign ids."""

    jobs: JobService
    control: JobControl
    store: AuditStore
    bodies: AuditObjectStore
    policy: AddressPolicy
    hosts: HostService
    has_browser: bool
    """Whether the stage can render pages."""
    intake: HeaderIntake | None = None
    """None in the pass over schedules, whose headers are encrypted already."""

    # ------------------------------------------------------------ Audits

    def submit(
        self,
        tenant: str,
        request: AuditRequest,
        key: RequestKey | None,
        sealed: SealedHeaders | None = None,
    ) -> Submitted:
        """Accept an audit; a second audit of the same site waits for the first one's lock.

        `sealed`: headers of a schedule, instead of the request's.

        Raises UrlInvalid, UrlBlocked, DomainBlocked, CircuitOpen, ValidationFailed, BrowserMissing.
        """
        return self.jobs.replayed_or(key, lambda: self._submit(tenant, request, key, sealed))

    def page(
        self,
        tenant: str,
        status: JobStatus | None,
        recipe: str | None,
        after: str | None,
        limit: int,
    ) -> AuditList:
        """Return a page of audits, newest first.

        The recipe filters the rows that were read, so that a page may contain fewer than `limit`.
        """
        wanted = JobFilter(kind=AUDIT, status=status)
        page = self.control.page(tenant, wanted, after, limit)
        shown = tuple(job for job in page.items if recipe in (None, job.payload["recipe"]))
        return AuditList.page(replace(page, items=shown), audit_view)

    def get(self, tenant: str, audit_id: str) -> AuditView:
        """Return an audit; raise NotFound."""
        return audit_view(self.job(tenant, audit_id))

    def job(self, tenant: str, audit_id: str) -> Job:
        """Return the job of an audit; raise NotFound."""
        return self.jobs.get(JobRef(tenant=tenant, job_id=audit_id), AUDIT)

    def cancel(self, tenant: str, audit_id: str) -> Job:
        """Cancel an audit. Raise NotFound, Conflict or Contended."""
        return self.control.move(self.job(tenant, audit_id).ref, Transition.CANCEL)

    # ------------------------------------------------------------ Results

    def report(self, tenant: str, audit_id: str, format_: FormatName) -> ReportView:
        """Return a report's URL; raise NotFound, or Conflict for an audit without a result."""
        finished = self._finished(tenant, audit_id)
        media_type, extension = REPORTS[format_]
        url = self.bodies.url(
            finished.report_uri(format_),
            file_name=f"{audit_id}.{extension}",
            media_type=media_type,
            seconds=limits.URL_SECONDS,
        )
        return ReportView(
            format=format_, media_type=media_type, url=url, expires_in=limits.URL_SECONDS
        )

    def issues(
        self, tenant: str, audit_id: str, wanted: IssueFilter, skipped: int, limit: int
    ) -> IssueList:
        """Return issues after the first `skipped` of the log. Raise NotFound or Conflict."""
        log = self._log(self._finished(tenant, audit_id))
        numbered = enumerate(map(issue_view, log.issues()), start=1)
        behind = (pair for pair in numbered if pair[0] > skipped and wanted.shows(pair[1]))
        found = Page.cut(list(islice(behind, limit + 1)), limit, lambda pair: str(pair[0]))
        return IssueList.page(found, lambda pair: pair[1])

    def artifacts(
        self, tenant: str, audit_id: str, after: str | None, limit: int
    ) -> Page[Artifact]:
        """Return a page of the audit's artifacts; raise NotFound.

        Issues and reports of a claim that was lost are left out: the page may be shorter.
        """
        self.job(tenant, audit_id)
        page = self.store.artifacts(tenant, audit_id, after, limit)
        folders = {
            ref: finished.folder if (finished := self.store.finished(ref)) else None
            for ref in {each.ref for each in page.items}
        }
        return replace(
            page,
            items=tuple(
                each
                for each in page.items
                if not each.type.is_result
                or each.storage_uri.rpartition("/")[0] == folders[each.ref]
            ),
        )

    def comparison(
        self,
        tenant: str,
        audit_id: str,
        other: str | None,
        state: StateName | None,
        skipped: int,
        limit: int,
    ) -> ComparisonView:
        """Compare with `other`, or with the site's previous audit.

        Raises NotFound; Conflict for an audit without a result or of another host.
        """
        after = self._finished(tenant, audit_id)
        before = self._other(after, other)
        found = self._compared(before, after)
        rows = changed_issues(found, state)
        shown = rows[skipped : skipped + limit]
        more = skipped + limit < len(rows)
        return ComparisonView(
            audit_id=audit_id,
            compared_with=before.ref.audit_id,
            score_before=found.score_before,
            score_after=found.score_after,
            change=found.change,
            catalogue_changed=found.catalogue_changed,
            **{name: len(getattr(found, name)) for name in get_args(StateName)},
            items=shown,
            next_cursor=cursor_of(str(skipped + limit)) if more else None,
            has_more=more,
        )

    # ------------------------------------------------------------ Parts

    def _submit(
        self,
        tenant: str,
        request: AuditRequest,
        key: RequestKey | None,
        sealed: SealedHeaders | None,
    ) -> Submitted:
        urls = checked_urls(request.url, request.options, self.policy)
        url, recipe = urls[0], RECIPES[request.recipe]
        payload = payload_of(urls, recipe, request)
        if sealed is None and self.intake is not None:
            sealed = self.intake.take(tenant, request.headers, request.cookie)
        require_renderable(request.options, sealed, has_browser=self.has_browser)
        if sealed is not None:
            payload["headers"] = sealed.as_json()
        self.hosts.check_submission(tenant, url.host, url.unusual_port)
        draft = Draft(
            kind=AUDIT,
            payload=payload,
            priority=Priority.NORMAL,
            domain=url.host,
            duplicate_key=None,
        )
        return self.jobs.submit(
            tenant, [draft], key, lambda placed: _accepted(placed[0].job, recipe)
        )

    def _finished(self, tenant: str, audit_id: str) -> Finished:
        job = self.job(tenant, audit_id)
        ref = RunRef(tenant=tenant, audit_id=audit_id, run=job.run)
        finished = None if job.result is None else self.store.finished(ref)
        if finished is None:
            raise Conflict("the audit has no result", details={"status": job.status})
        return finished

    def _other(self, after: Finished, other: str | None) -> Finished:
        if other is not None:
            chosen = self._finished(after.ref.tenant, other)
            hosts = [host_key(parse_url(each.start_url).host) for each in (after, chosen)]
            if hosts[0] != hosts[1]:
                raise Conflict("the other audit is of another host", details={"hosts": hosts})
            return chosen
        before = self.store.finished_before(after.ref.tenant, after.site_key, after.place)
        if before is None:
            raise Conflict("no earlier audit of this site by this recipe")
        return before

    def _compared(self, before: Finished, after: Finished) -> RunComparison:
        former, later = self._log(before), self._log(after)
        return compare(
            former.findings(),
            (finding.key for finding in later.findings()),
            known=later.known,
            score_before=before.score,
            score_after=after.score,
            versions=(before.catalogue_version, after.catalogue_version),
        )

    def _log(self, finished: Finished) -> IssueLog:
        stored = self.bodies.get(finished.issues_uri)
        if stored is None:
            raise NotFound("the audit's issues are gone")
        return IssueLog(stored)


def payload_of(urls: Sequence[Url], recipe: Recipe, request: AuditRequest) -> dict[str, Any]:
    """Return the payload of an audit's job, without headers; raise ValidationFailed."""
    payload: dict[str, Any] = {
        "url": urls[0].text,
        "recipe": recipe.name,
        "version": recipe.version,
        "sample": asdict(sample_for(recipe, request.options)),
    }
    if request.mode is not None:
        payload["mode"] = request.mode
    given = request.options.given
    payload |= {name: given[name] for name in CHOICES if name in given}
    if "urls" in payload:
        payload["urls"] = [each.text for each in urls]
    if request.fail_under is not None:
        payload["fail_under"] = request.fail_under
    return payload


def _accepted(job: Job, recipe: Recipe) -> Reply:
    body = AuditSubmission(
        audit_id=job.id,
        status=job.status,
        recipe=recipe.name,  # type: ignore[arg-type]  # a name of RECIPES
        recipe_version=recipe.version,
        message="accepted",
    )
    return Reply(status=202, body=body.model_dump(mode="json"))

"""Scheduled audits of a tenant, and the pass that submits due ones."""

import logging
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from spinneret.audits import limits
from spinneret.audits.api_models import AuditOptions, AuditRequest
from spinneret.audits.options import checked_urls, require_renderable, sample_for
from spinneret.audits.recipes import RECIPES
from spinneret.audits.request_headers import HeaderIntake, SealedHeaders
from spinneret.audits.schedules.api_models import AuditScheduleRequest
from spinneret.audits.schedules.models import AuditSchedule, ScheduleRef, ScheduleTickResult
from spinneret.audits.schedules.ports import ScheduleStore
from spinneret.audits.service import AuditService
from spinneret.jobs import rules
from spinneret.jobs.models import RequestKey
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import Conflict, DependencyUnavailable, DomainError, NotFound, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.passes import FAILED, act_on_each
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.schedules.cron import next_run, parse_schedule
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.headers.rules import require_same_origin

logger = logging.getLogger(__name__)

_SUBMITTED: Final = "submitted"
_SKIPPED: Final = "skipped"
_REFUSED: Final = "refused"
_CHANGED: Final = "changed"


@service
class ScheduleService:
    """Schedules of audits. Unknown and foreign ids raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: ScheduleStore
    policy: AddressPolicy
    intake: HeaderIntake
    has_browser: bool
    """Whether the stage can render pages."""
    clock: Clock
    new_id: NewId

    def create(self, tenant: str, request: AuditScheduleRequest) -> AuditSchedule:
        """Create a schedule.

        Raises ValidationFailed, UrlInvalid, UrlBlocked, and Conflict if the tenant has too many.
        """
        present = self.store.page(tenant, None, limits.SCHEDULES_PER_TENANT)
        if len(present.items) >= limits.SCHEDULES_PER_TENANT:
            raise Conflict(f"a tenant has at most {limits.SCHEDULES_PER_TENANT} schedules")
        schedule = self._made(tenant, self.new_id("asched"), request)
        self.store.add(schedule)
        return schedule

    def get(self, tenant: str, schedule_id: str) -> AuditSchedule:
        """Return a schedule; raise NotFound."""
        return existing(self.store.get(tenant, schedule_id), "schedule")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[AuditSchedule]:
        """See ScheduleStore.page."""
        return self.store.page(tenant, after, limit)

    def update(self, tenant: str, schedule_id: str, request: AuditScheduleRequest) -> AuditSchedule:
        """Replace a schedule, keeping its history. Raise NotFound and the errors of `create`.

        Other times apply from now on; without them, a run that is due remains so.
        """

        def updated() -> AuditSchedule | None:
            former = self.get(tenant, schedule_id)
            made = self._made(tenant, schedule_id, request)
            if former.headers and request.headers is None and request.cookie is None:
                require_same_origin(former.url, made.url)
            due = former if _times(former) == _times(made) else made
            schedule = replace(
                made,
                next_run_at=due.next_run_at,
                **self._headers(tenant, request, former.headers),
                created_at=former.created_at,
                last_run_at=former.last_run_at,
                last_audit_id=former.last_audit_id,
                last_error=former.last_error,
                version=former.version + 1,
            )
            return schedule if self.store.replace(former, schedule) else None

        return until_written(updated, changing("the schedule"))

    def remove(self, tenant: str, schedule_id: str) -> None:
        """Remove a schedule; raise NotFound."""
        until_written(
            lambda: self.store.remove(self.get(tenant, schedule_id)), changing("the schedule")
        )

    def _made(self, tenant: str, schedule_id: str, request: AuditScheduleRequest) -> AuditSchedule:
        now = self.clock()
        urls = checked_urls(request.url, request.options, self.policy)
        sample_for(RECIPES[request.recipe], request.options)
        schedule = parse_schedule(request.schedule_cron, request.timezone)
        return AuditSchedule(
            tenant=tenant,
            id=schedule_id,
            url=urls[0].text,
            recipe=request.recipe,
            options=request.options.given,
            fail_under=request.fail_under,
            **self._headers(tenant, request, None),
            schedule_cron=schedule.line,
            timezone=schedule.timezone,
            is_active=request.is_active,
            created_at=now,
            updated_at=now,
            next_run_at=next_run(schedule, now) if request.is_active else None,
        )

    def _headers(
        self, tenant: str, request: AuditScheduleRequest, former: SealedHeaders | None
    ) -> dict[str, Any]:
        """Return the fields of the request's headers, or of the former ones if it omits them."""
        found = former
        if request.headers is not None or request.cookie is not None:
            found = self.intake.take(tenant, request.headers or {}, request.cookie)
        require_renderable(request.options, found, has_browser=self.has_browser)
        if found is None:
            return {"header_names": (), "sealed_headers": None}
        return {"header_names": found.names, "sealed_headers": found.data}


def _times(schedule: AuditSchedule) -> tuple[str, str, bool]:
    return schedule.schedule_cron, schedule.timezone, schedule.is_active


@service
class ScheduleTicker:
    """Submits due audits once per minute.

    An audit is submitted under a key of its schedule and time, then the schedule advances. A pass
    that dies in between, or runs twice, submits no second audit. Several missed runs become one
    run.
    """

    store: ScheduleStore
    audits: AuditService
    clock: Clock

    def tick(self) -> ScheduleTickResult:
        """Run one pass; raise DependencyUnavailable if even the list can't be read."""
        now = self.clock()
        due = self.store.due(now, limits.SCHEDULES_PER_PASS)
        results = act_on_each(due, lambda ref: self._run(ref, now), lambda ref: ref.schedule_id)
        return ScheduleTickResult(
            submitted=results[_SUBMITTED],
            skipped=results[_SKIPPED],
            refused=results[_REFUSED],
            left=results[FAILED],
        )

    def _run(self, ref: ScheduleRef, now: datetime) -> str:
        schedule = self.store.get(ref.tenant, ref.schedule_id)
        moment = None if schedule is None else schedule.next_run_at
        if schedule is None or moment is None or moment > now:  # changed since the index was read
            return _CHANGED
        after = replace(
            schedule,
            next_run_at=next_run(parse_schedule(schedule.schedule_cron, schedule.timezone), now),
            version=schedule.version + 1,
        )
        if self._is_under_way(schedule):
            self.store.replace(schedule, after)
            return _SKIPPED
        scope = fingerprint(["audit schedule", schedule.id, to_iso(moment)])
        # Whatever the schedule's options are by now, there is one audit for each time.
        key = RequestKey(tenant=schedule.tenant, scope=scope, payload=scope)
        after = replace(after, last_run_at=moment, last_error=None)
        try:
            submitted = self.audits.submit(
                schedule.tenant, _request(schedule), key, schedule.headers
            )
        except DependencyUnavailable:
            raise
        except DomainError as error:
            logger.warning(
                "schedule_refused", extra={"schedule_id": schedule.id, "code": error.code}
            )
            self.store.replace(schedule, replace(after, last_error=error.code))
            return _REFUSED
        audit_id = submitted.reply.body["audit_id"]
        self.store.replace(schedule, replace(after, last_audit_id=audit_id))
        return _SUBMITTED

    def _is_under_way(self, schedule: AuditSchedule) -> bool:
        """Return whether the schedule's last audit is still running: only one runs at a time."""
        if schedule.last_audit_id is None:
            return False
        try:
            job = self.audits.job(schedule.tenant, schedule.last_audit_id)
        except NotFound:
            return False
        return job.status not in rules.TERMINAL


def _request(schedule: AuditSchedule) -> AuditRequest:
    options = AuditOptions.model_validate(dict(schedule.options))
    return AuditRequest(
        url=None if options.urls else schedule.url,
        recipe=schedule.recipe,  # type: ignore[arg-type]  # a name of RECIPES
        options=options,
        fail_under=schedule.fail_under,
    )

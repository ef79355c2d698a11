"""Reports the ends of jobs: one delivery for each target that a job was submitted with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from spinneret.events.webhooks.messages import draft_of, event_of, message_about, notification_key
from spinneret.events.webhooks.models import Endpoint
from spinneret.events.webhooks.ports import EndpointStore
from spinneret.events.webhooks.targets import url_target
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobEvent, Reply
from spinneret.jobs.ports import JobStore
from spinneret.jobs.service import JobService
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost

logger = logging.getLogger(__name__)

_RACES: Final = 5  # subscriptions of one job that change during its notification are few


class Notifier:
    """A listener of the job store, called again by the sweeper for ends that weren't reported.

    Deliveries are jobs without targets, so their own ends aren't reported.
    """

    def __init__(self, *, endpoints: EndpointStore, jobs: JobService, store: JobStore) -> None:
        self._endpoints = endpoints
        self._jobs = jobs
        self._store = store

    def __call__(self, job: Job, _: Sequence[JobEvent]) -> None:
        """Submit the deliveries, then mark the job's run as reported; never raises.

        A crash between the two makes the sweeper repeat both. That adds no second delivery, even if
        the first one has ended: a receiver may have answered that it wants no more.
        """
        if not rules.awaits_notification(job):
            return
        try:
            self._submit(job)
            self._mark(job)
        except DependencyUnavailable as error:
            logger.warning("notification_left", extra={"job_id": job.id, "reason": error.message})
        except Exception:  # the job has ended; a fault in its notification must not fail it
            logger.exception("notification_failed", extra={"job_id": job.id})

    def _submit(self, job: Job) -> None:
        """All in one transaction: WEBHOOK_ENDPOINTS_MAX and a URL are below JobStore's bound."""
        own = {target: url_target(target) for target in job.notify}
        ids = [target for target, to in own.items() if to is None]
        endpoints = self._endpoints.find(job.tenant, ids)
        drafts = []
        for target, to in own.items():
            endpoint = endpoints.get(target)
            url = to.url if to else _url_for(endpoint, job)
            if url is not None:
                message, key = message_about(job, target), notification_key(job, target)
                drafts.append(draft_of(message, url, key, once=True))
        self._jobs.submit(job.tenant, drafts, None, lambda _: Reply(status=202, body={}))

    def _mark(self, job: Job) -> None:
        """Mark the run as reported on the row as it stands: subscribers come and go meanwhile.

        A run that was marked by another process, or that isn't the current one any more, is left.
        """
        standing: Job | None = job
        for _ in range(_RACES):
            if standing is None or standing.run != job.run:
                return
            if not rules.awaits_notification(standing):
                return
            try:
                self._store.transition(standing, rules.mark_notified(standing))
            except LeaseLost:
                standing = self._store.get(job.ref)
            else:
                return
        logger.warning("notification_left", extra={"job_id": job.id, "reason": "the job changes"})


def _url_for(endpoint: Endpoint | None, job: Job) -> str | None:
    """The URL of an endpoint that receives the job's event."""
    if endpoint is None or not endpoint.is_active or event_of(job) not in endpoint.events:
        return None
    return endpoint.url

"""Webhooks as a sink of domain events: one delivery for each subscribed endpoint."""

from typing import Final

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.messages import delivery_key, draft_of, message_about
from spinneret.events.webhooks.ports import EndpointStore
from spinneret.events.webhooks.subscriptions import job_name, may_get, name_for
from spinneret.events.webhooks.targets import url_target
from spinneret.jobs.ends import end_of
from spinneret.jobs.kinds import Kinds
from spinneret.jobs.models import Draft, Reply
from spinneret.jobs.service import JobService
from spinneret.kernel.service import service
from spinneret.outbox.models import DomainEvent


@service
class WebhookSink:
    """Implements Sink: submits the deliveries, which are jobs of a kind that emits nothing.

    A repeated event adds no delivery, even if the first one has ended: a receiver may have refused
    further events.
    """

    name: Final = "webhooks"

    endpoints: EndpointStore
    jobs: JobService
    kinds: Kinds
    enabled: bool = True

    def take(self, event: DomainEvent) -> None:
        """See Sink. Submits deliveries to the tenant's current endpoints, and to the subject's own
        targets.

        They fit in one transaction: WEBHOOK_ENDPOINTS_MAX and a URL are below JobStore's bound.
        """
        if not self.enabled:
            return
        drafts = self._drafts(event)
        if drafts:
            self.jobs.submit(event.tenant, drafts, None, lambda _: Reply(status=202, body={}))

    def _drafts(self, event: DomainEvent) -> list[Draft]:
        end = end_of(event.type, self.kinds)
        default = event.type if end is None else job_name(end)
        page = self.endpoints.page(event.tenant, None, limits.WEBHOOK_ENDPOINTS_MAX)
        urls: dict[str, str] = {}
        names: dict[str, str] = {}
        for endpoint in page.items:
            named = endpoint.id in event.targets
            name = name_for(endpoint.events, event.type, end)
            if endpoint.source_id is not None:  # it takes only events for which its source names it
                name = name if named else None
            elif named:
                name = name or default
            if endpoint.is_active and name is not None and may_get(endpoint, event.type):
                urls[endpoint.id], names[endpoint.id] = endpoint.url, name
        for target in event.targets:
            if to := url_target(target):
                urls[target], names[target] = to.url, default
        return [
            draft_of(
                message_about(event, target, name, is_end=end is not None),
                urls[target],
                delivery_key(event, target),
                once=True,
            )
            for target, name in names.items()
        ]

"""Delivery of one message: the handler of the kind `delivery`."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.events.webhooks import limits, rules
from spinneret.events.webhooks.excerpts import logged_payload
from spinneret.events.webhooks.messages import message_of
from spinneret.events.webhooks.models import (
    Action,
    Cooldown,
    Delivered,
    Delivery,
    DeliveryStatus,
    Disable,
    Endpoint,
    GiveUp,
    Message,
    Retry,
)
from spinneret.events.webhooks.ports import Cooldowns, DeliveryLog, EndpointStore
from spinneret.events.webhooks.sending import Destination, EndpointResponse, Sender
from spinneret.events.webhooks.subscriptions import may_get
from spinneret.events.webhooks.vault import Vault
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DeliveryFailed,
    DeliveryRefused,
    DependencyUnavailable,
    PermanentError,
)
from spinneret.kernel.service import service
from spinneret.redaction import redact_text
from spinneret.web.fetching.ports import Fetcher

logger = logging.getLogger(__name__)

GONE: Final = "410 Gone"


@service
class DeliveryHandler:
    """Send a message once per claim and return the result, or raise how the job continues.

    Delivery is at least once: a crash between sending and logging sends the message again.
    """

    endpoints: EndpointStore
    log: DeliveryLog
    cooldowns: Cooldowns
    fetcher: Fetcher
    vault: Vault
    clock: Clock
    random: Callable[[], float]

    def __post_init__(self) -> None:
        self._sender = Sender(fetcher=self.fetcher, vault=self.vault, clock=self.clock)

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Deliver the message. Raises DeliveryFailed to be retried, Defer to wait for the target,
        and PermanentError if neither would help.
        """
        message = message_of(context.job.payload)
        line = self._line(context.job, message)
        try:
            destination = self._destination(context.job.tenant, message)
            line = replace(line, url=redact_text(destination.url))
            cooldown = self._permit(context, line, destination)
            answer = self._sender.send(context.job.tenant, message, destination)
        except PermanentError as error:
            self._write(context, replace(line, status=DeliveryStatus.FAILED, error=error.message))
            raise
        return self._conclude(context, line, destination, cooldown, answer)

    # ------------------------------------------------------------ Before the attempt

    def _line(self, job: Job, message: Message) -> Delivery:
        """Return the line as the last attempt left it, or a new one before the first."""
        line = self.log.get(job.tenant, message.endpoint_id, message.id) if job.attempts else None
        if line is None or line.delivery_job_id != job.id:
            return _new_line(job, message)
        return replace(line, attempts=job.attempts, next_attempt_at=None)

    def _destination(self, tenant: str, message: Message) -> Destination:
        """Return the message's current destination. Raises DeliveryRefused."""
        if message.endpoint_id is None:
            assert message.url is not None  # a message has one or the other
            secrets = self.endpoints.default_secrets(tenant)
            if secrets is None:
                raise DeliveryRefused("there is no default secret to sign with")
            return Destination(
                url=message.url,
                secrets=secrets,
                sealed_headers=message.sealed_headers,
                endpoint=None,
            )
        endpoint = self.endpoints.get(tenant, message.endpoint_id)
        if endpoint is None or not endpoint.is_active:
            raise DeliveryRefused("the webhook is inactive or gone")
        if not may_get(endpoint, message.event):
            raise DeliveryRefused("the webhook may not get events of accounts")
        return Destination(
            url=endpoint.url,
            secrets=endpoint.secrets,
            sealed_headers=endpoint.sealed_headers,
            endpoint=endpoint,
        )

    def _permit(self, context: Context, line: Delivery, to: Destination) -> Cooldown | None:
        """Wait for the target's cooldown, or take the permit to try; return the cooldown, if any.

        Raises Defer, and after WEBHOOK_WAIT_SECONDS DeliveryRefused.
        """
        tenant, now = context.job.tenant, self.clock()
        cooldown = self.cooldowns.find(tenant, to.target)
        if cooldown is None:
            return None
        waited = (now - (context.job.started_at or now)).total_seconds()
        if waited > limits.WEBHOOK_WAIT_SECONDS:
            raise DeliveryRefused(f"{to.host} was unreachable or too slow for too long")
        until = cooldown.until
        if until <= now:
            until = now + timedelta(seconds=limits.WEBHOOK_PERMIT_SECONDS)
            if self.cooldowns.take_permit(tenant, to.target, cooldown, until):
                return cooldown
        check = rules.next_check(until, waited, self.random())
        self._write(context, replace(line, next_attempt_at=check))
        raise Defer(check, to.host)

    # ------------------------------------------------------------ After it

    def _conclude(
        self,
        context: Context,
        line: Delivery,
        to: Destination,
        cooldown: Cooldown | None,
        answer: EndpointResponse,
    ) -> Mapping[str, Any]:
        """Write the log under the lease, then apply the answer to later deliveries."""
        now = self.clock()
        attempt = context.job.attempts + 1
        action = rules.next_action(
            answer.status, answer.headers, attempt=attempt, now=now, unit_random=self.random()
        )
        self._write(context, _attempted(line, answer, action, attempt, now))
        self._keep_cooldown(context.job.tenant, to.target, cooldown, answer)
        details = {"status_code": answer.status, "delivery_id": line.id}
        match action:
            case Delivered():
                return {**details, "attempts": attempt, "duration_ms": answer.duration_ms}
            case Disable():
                self._disable(to.endpoint)
                raise DeliveryRefused(f"{to.host} refuses further events", details=details)
            case Retry():
                raise DeliveryFailed(
                    answer.error, details=details, retry_after=action.after_seconds
                )
            case GiveUp():
                raise DeliveryFailed(action.reason, details=details)

    def _keep_cooldown(
        self, tenant: str, target: str, former: Cooldown | None, answer: EndpointResponse
    ) -> None:
        """Store or end the cooldown. A store outage is only logged: the message was sent either
        way.
        """
        seconds = (answer.duration_ms or 0) / 1000
        cooldown = rules.cooldown_after(
            former, answer.status, answer.headers, seconds=seconds, now=self.clock()
        )
        try:
            if cooldown is not None:
                self.cooldowns.put(tenant, target, cooldown)
            elif former is not None:
                self.cooldowns.end(tenant, target)
        except DependencyUnavailable as error:
            logger.warning("cooldown_not_kept", extra={"reason": error.message})

    def _disable(self, endpoint: Endpoint | None) -> None:
        """Disable the endpoint on its request, unless the tenant has changed it meanwhile."""
        if endpoint is None:
            return
        disabled = replace(
            endpoint,
            is_active=False,
            disabled_reason=GONE,
            updated_at=self.clock(),
            version=endpoint.version + 1,
        )
        if self.endpoints.replace(endpoint, disabled):
            logger.warning("webhook_disabled", extra={"endpoint_id": endpoint.id})

    def _write(self, context: Context, line: Delivery) -> None:
        self.log.write(line, context.lease, self.clock())


def _attempted(
    line: Delivery, answer: EndpointResponse, action: Action, attempt: int, now: datetime
) -> Delivery:
    line = replace(
        line,
        attempts=attempt,
        last_attempt_at=answer.sent_at,
        response_status=answer.status,
        response_body=answer.text,
        error=answer.error,
    )
    match action:
        case Delivered():
            return replace(line, status=DeliveryStatus.DELIVERED, error=None, delivered_at=now)
        case Retry():
            return replace(line, next_attempt_at=now + timedelta(seconds=action.after_seconds))
        case _:
            return replace(line, status=DeliveryStatus.FAILED)


def _new_line(job: Job, message: Message) -> Delivery:
    content = json.loads(message.body)
    return Delivery(
        tenant=job.tenant,
        id=message.id,
        endpoint_id=message.endpoint_id,
        url=None if message.url is None else redact_text(message.url),
        event=message.event,
        job_id=content["data"].get("job_id"),
        job_type=content["data"].get("kind"),
        payload=logged_payload(content),
        delivery_job_id=job.id,
        attempts=job.attempts,
        max_attempts=job.max_attempts,
        created_at=message.created_at,
    )

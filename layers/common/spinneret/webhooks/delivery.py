"""Delivering one message: the handler of the kind `delivery`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.fetching.models import FetchRequest
from spinneret.fetching.ports import Fetcher
from spinneret.fetching.urls import parse_url
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Postpone
from spinneret.kernel import limits
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DeliveryFailed,
    DeliveryRefused,
    DependencyUnavailable,
    FetchFailed,
    FetchTimeout,
    PermanentError,
)
from spinneret.redaction import redact_text
from spinneret.webhooks import rules
from spinneret.webhooks.excerpts import excerpt_of
from spinneret.webhooks.messages import message_of
from spinneret.webhooks.models import (
    Action,
    Delivered,
    Delivery,
    DeliveryStatus,
    Disable,
    Endpoint,
    GiveUp,
    Hold,
    Message,
    Retry,
    SealedSecrets,
)
from spinneret.webhooks.ports import DeliveryLog, EndpointStore, Holds
from spinneret.webhooks.signing import sign
from spinneret.webhooks.vault import DEFAULT, Vault

logger = logging.getLogger(__name__)

GONE: Final = "410 Gone"


@dataclass(frozen=True, kw_only=True)
class _Destination:
    """Where a message goes at this moment."""

    url: str = field(repr=False)
    secrets: SealedSecrets
    endpoint: Endpoint | None

    @property
    def owner(self) -> str:
        """What its secrets are sealed for."""
        return DEFAULT if self.endpoint is None else self.endpoint.id

    @property
    def target(self) -> str:
        """What a hold names."""
        return self.url if self.endpoint is None else self.endpoint.id

    @property
    def host(self) -> str:
        """For messages: a URL may hold a credential."""
        return parse_url(self.url).host


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What came of one attempt; no status when there was no answer."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    text: str | None = field(default=None, repr=False)
    error: str
    """What a failure of it is called."""
    duration_ms: int | None = None


class DeliveryHandler:
    """Sends a message once per claim, and says what follows.

    A receiver may get a message more than once: what was sent isn't known until it is written.
    """

    def __init__(
        self,
        *,
        endpoints: EndpointStore,
        log: DeliveryLog,
        holds: Holds,
        fetcher: Fetcher,
        vault: Vault,
        clock: Clock,
        random: Callable[[], float],
    ) -> None:
        self._endpoints = endpoints
        self._log = log
        self._holds = holds
        self._fetcher = fetcher
        self._vault = vault
        self._clock = clock
        self._random = random

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Raises DeliveryFailed to be called again, Postpone to wait for the target, and a
        PermanentError when there is no use in either."""
        message = message_of(context.job.payload)
        line = _line(context.job, message)
        try:
            destination = self._destination(context.job.tenant, message)
            line = replace(line, url=redact_text(destination.url))
            hold = self._turn(context, line, destination)
            answer = self._attempt(context.job.tenant, message, destination)
        except PermanentError as error:
            self._write(context, replace(line, status=DeliveryStatus.FAILED, error=error.message))
            raise
        return self._conclude(context, line, destination, hold, answer)

    # ------------------------------------------------------------ Before the attempt

    def _destination(self, tenant: str, message: Message) -> _Destination:
        """Raises DeliveryRefused."""
        if message.endpoint_id is None:
            assert message.url is not None  # a message has one or the other
            secrets = self._endpoints.default_secrets(tenant)
            if secrets is None:
                raise DeliveryRefused("there is no default secret to sign with")
            return _Destination(url=message.url, secrets=secrets, endpoint=None)
        endpoint = self._endpoints.get(tenant, message.endpoint_id)
        if endpoint is None or not endpoint.active:
            raise DeliveryRefused("the webhook is inactive or gone")
        return _Destination(url=endpoint.url, secrets=endpoint.secrets, endpoint=endpoint)

    def _turn(self, context: Context, line: Delivery, to: _Destination) -> Hold | None:
        """The hold that this attempt tries to end, if there is one. Raises Postpone.

        After WEBHOOK_WAIT_SECONDS raises DeliveryRefused.
        """
        tenant, now = context.job.tenant, self._clock()
        hold = self._holds.find(tenant, to.target)
        if hold is None:
            return None
        waited = (now - (context.job.started_at or now)).total_seconds()
        if waited > limits.WEBHOOK_WAIT_SECONDS:
            raise DeliveryRefused(f"{to.host} was out of reach or too slow for too long")
        until = hold.until
        if until <= now:
            until = now + timedelta(seconds=limits.WEBHOOK_TURN_SECONDS)
            if self._holds.take_turn(tenant, to.target, hold, until):
                return hold
        look = rules.next_look(until, waited, self._random())
        self._write(context, replace(line, next_attempt_at=look))
        raise Postpone(look, to.host)

    # ------------------------------------------------------------ The attempt

    def _attempt(self, tenant: str, message: Message, to: _Destination) -> _Answer:
        """Raises UrlInvalid, UrlBlocked, SecretUnreadable."""
        body = message.body.encode()
        request = FetchRequest(
            url=to.url,
            method="POST",
            body=body,
            headers=self._headers(tenant, message.id, body, to),
            follow_redirects=False,
            excerpt_bytes=limits.WEBHOOK_EXCERPT_BYTES,
            total_seconds=limits.WEBHOOK_SECONDS,
            read_seconds=limits.WEBHOOK_SECONDS,
        )
        try:
            page = self._fetcher.fetch(request)
        except (FetchTimeout, FetchFailed) as error:
            return _Answer(status=None, error=error.message)
        return _Answer(
            status=page.status_code,
            headers=page.headers,
            text=excerpt_of(page.body),
            error=f"{to.host} answered {page.status_code}",
            duration_ms=page.duration_ms,
        )

    def _headers(
        self, tenant: str, message_id: str, body: bytes, to: _Destination
    ) -> Mapping[str, str]:
        now = self._clock()
        sealed = to.endpoint.sealed_headers if to.endpoint else ()
        custom = self._vault.headers(tenant, to.owner, sealed)
        keys = self._vault.secrets(tenant, to.owner, rules.in_force(to.secrets, now))
        signed = sign(body, id=message_id, timestamp=now, secrets=keys)
        return {**custom, "Content-Type": "application/json", **signed}

    # ------------------------------------------------------------ After it

    def _conclude(
        self,
        context: Context,
        line: Delivery,
        to: _Destination,
        hold: Hold | None,
        answer: _Answer,
    ) -> Mapping[str, Any]:
        """First the log, under the lease; then what the answer means for later deliveries."""
        now = self._clock()
        attempt = context.job.attempts + 1
        action = rules.next_action(
            answer.status, answer.headers, attempt=attempt, now=now, unit_random=self._random()
        )
        self._write(context, _attempted(line, answer, action, attempt, now))
        self._keep_hold(context.job.tenant, to.target, hold, answer)
        details = {"status_code": answer.status, "delivery_id": line.id}
        match action:
            case Delivered():
                return {**details, "attempts": attempt, "duration_ms": answer.duration_ms}
            case Disable():
                self._disable(to.endpoint)
                raise DeliveryRefused(f"{to.host} wants no more events", details=details)
            case Retry():
                raise DeliveryFailed(
                    answer.error, details=details, retry_after=action.after_seconds
                )
            case GiveUp():
                raise DeliveryFailed(action.reason, details=details)

    def _keep_hold(self, tenant: str, target: str, former: Hold | None, answer: _Answer) -> None:
        """An outage of the store changes nothing about what was delivered."""
        seconds = (answer.duration_ms or 0) / 1000
        hold = rules.hold_after(
            former, answer.status, answer.headers, seconds=seconds, now=self._clock()
        )
        try:
            if hold is not None:
                self._holds.put(tenant, target, hold)
            elif former is not None:
                self._holds.end(tenant, target)
        except DependencyUnavailable as error:
            logger.warning("hold_not_kept", extra={"reason": error.message})

    def _disable(self, endpoint: Endpoint | None) -> None:
        """By the endpoint's own word; a tenant that has changed it meanwhile knows better."""
        if endpoint is None:
            return
        disabled = replace(
            endpoint,
            active=False,
            disabled_reason=GONE,
            updated_at=self._clock(),
            version=endpoint.version + 1,
        )
        if self._endpoints.replace(endpoint, disabled):
            logger.warning("webhook_disabled", extra={"endpoint_id": endpoint.id})

    def _write(self, context: Context, line: Delivery) -> None:
        self._log.write(line, context.lease, self._clock())


def _attempted(
    line: Delivery, answer: _Answer, action: Action, attempt: int, now: datetime
) -> Delivery:
    line = replace(
        line,
        attempts=attempt,
        response_code=answer.status,
        response_text=answer.text,
        error=answer.error,
    )
    match action:
        case Delivered():
            return replace(line, status=DeliveryStatus.DELIVERED, error=None, delivered_at=now)
        case Retry():
            return replace(line, next_attempt_at=now + timedelta(seconds=action.after_seconds))
        case _:
            return replace(line, status=DeliveryStatus.FAILED)


def _line(job: Job, message: Message) -> Delivery:
    return Delivery(
        tenant=job.tenant,
        id=message.id,
        endpoint_id=message.endpoint_id,
        url=None if message.url is None else redact_text(message.url),
        event=message.event,
        job_id=job.id,
        attempts=job.attempts,
        created_at=message.created_at,
    )

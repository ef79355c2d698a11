"""Endpoints, deliveries, cooldowns, and the actions that may follow an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

RESPONSE_BODY_MAX_CHARS: Final = 1000  # P-10


class WebhookEvent(StrEnum):
    """Names beside those that domains declare; full stops part the levels, as Standard Webhooks
    advises."""

    JOB_COMPLETED = "job.completed"
    JOB_FAILED = "job.failed"
    TEST = "webhook.test"
    """Sent only when the tenant asks for it."""


class DeliveryStatus(StrEnum):
    """Where a delivery stands; the last two are final."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class SealedSecrets:
    """The secrets that sign deliveries, encrypted."""

    newest: bytes = field(repr=False)
    old: bytes | None = field(default=None, repr=False)
    """The one before it, which signs as well …"""
    old_until: datetime | None = None
    """… up to this moment."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A tenant's webhook; fields that may hold a credential stay out of the repr."""

    tenant: str
    id: str
    name: str
    url: str = field(repr=False)
    events: frozenset[str]
    """Names and wildcards; see `subscriptions`."""
    secrets: SealedSecrets
    header_names: tuple[str, ...] = ()
    """Of the headers that are sent with every delivery; they passed `rules.allowed_headers`."""
    sealed_headers: tuple[bytes, ...] = field(default=(), repr=False)
    """Names and values, encrypted in parts: a value may be a credential."""
    source_id: str | None = None
    """The source whose runs alone it is notified of; it ends with that."""
    is_active: bool = True
    disabled_reason: str | None = None
    """Why it is inactive, when the tenant didn't do it."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Rises with every change."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """The content and destination of one delivery: the payload of its job."""

    id: str
    """Sent as `webhook-id`, the same on every attempt: receivers recognise duplicates by it."""
    endpoint_id: str | None
    """None for the `webhook_url` of a single job."""
    url: str | None = field(repr=False)
    """That URL; an endpoint's is looked up for each attempt."""
    sealed_headers: tuple[bytes, ...] = field(default=(), repr=False)
    """The headers that go to that URL; an endpoint's are looked up as well."""
    event: str
    """The name under which its target gets it."""
    body: str = field(repr=False)
    """Its UTF-8 form is signed and sent."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One message's delivery: a line of the delivery log."""

    tenant: str
    id: str
    """The message's."""
    endpoint_id: str | None
    url: str | None = field(repr=False)
    """Without secrets; None when the endpoint was gone before the first attempt."""
    event: str
    job_id: str | None
    """The job whose end is reported; None for other events."""
    job_type: str | None
    """That job's kind."""
    payload: Mapping[str, Any] = field(repr=False)
    """What is sent, without secrets and, where it is too large for the log, without its result."""
    delivery_job_id: str
    """The job that delivers it; a redelivery is another one."""
    status: DeliveryStatus = DeliveryStatus.PENDING
    attempts: int = 0
    """Attempts that the delivering job has made so far."""
    max_attempts: int
    last_attempt_at: datetime | None = None
    """When the last attempt began, as its `webhook-timestamp` has it."""
    response_status: int | None = None
    """Of the last attempt; None when it had no answer."""
    response_body: str | None = field(default=None, repr=False)
    """The beginning of that answer without secrets, at most RESPONSE_BODY_MAX_CHARS."""
    error: str | None = None
    """Why it isn't delivered."""
    created_at: datetime
    delivered_at: datetime | None = None
    next_attempt_at: datetime | None = None
    """None once the status is final."""


@dataclass(frozen=True, kw_only=True)
class Cooldown:
    """A target that didn't answer, was overloaded or slow, and whose deliveries wait."""

    failures: int
    """In a row, slow answers among them."""
    until: datetime
    """After it, one delivery at a time gets the permit to try the target."""


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """The endpoint accepted the event."""


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Try again later."""

    after_seconds: float
    throttle: bool = False
    """The endpoint is overloaded: its other deliveries should wait as well."""


@dataclass(frozen=True, kw_only=True)
class GiveUp:
    """All attempts are used."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Disable:
    """The endpoint asked for no more events; this delivery has failed."""


Action = Delivered | Retry | GiveUp | Disable
"""What follows one attempt."""

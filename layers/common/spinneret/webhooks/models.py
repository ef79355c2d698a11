"""Endpoints, deliveries and what may follow one attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

RESPONSE_TEXT_MAX_CHARS: Final = 1000  # P-10


class WebhookEvent(StrEnum):
    """What an endpoint can ask for; full stops part the levels, as Standard Webhooks advises."""

    JOB_COMPLETED = "job.completed"
    JOB_FAILED = "job.failed"


class DeliveryStatus(StrEnum):
    """Where a delivery stands; the last two are final."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a tenant wants its events; what may hold a credential stays out of the repr."""

    tenant: str
    id: str
    name: str
    url: str = field(repr=False)
    events: frozenset[WebhookEvent]
    sealed_secrets: tuple[bytes, ...] = field(repr=False)
    """Encrypted, newest first; several while they rotate."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every delivery; passed `rules.allowed_headers`."""
    active: bool = True
    disabled_reason: str | None = None
    """Why it is inactive, when that wasn't the tenant's own doing."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event on its way to one URL: a line of the delivery log."""

    tenant: str
    id: str
    """Sent as `webhook-id`, the same on every attempt: receivers tell duplicates by it."""
    endpoint_id: str | None
    """None for the `webhook_url` of a single job."""
    url: str = field(repr=False)
    event: WebhookEvent
    status: DeliveryStatus = DeliveryStatus.PENDING
    attempts: int = 0
    """Attempts made so far."""
    response_code: int | None = None
    """Of the last attempt; None when it had no answer."""
    response_text: str | None = field(default=None, repr=False)
    """The beginning of that answer, at most RESPONSE_TEXT_MAX_CHARS."""
    created_at: datetime
    delivered_at: datetime | None = None
    next_attempt_at: datetime | None = None
    """None once the status is final."""


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """The endpoint took the event."""


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Try again later."""

    after_seconds: float
    throttle: bool = False
    """The endpoint is overloaded: its other deliveries should hold back as well."""


@dataclass(frozen=True, kw_only=True)
class GiveUp:
    """All attempts are used."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Disable:
    """The endpoint wants no more events; this one is failed."""


Action = Delivered | Retry | GiveUp | Disable
"""What follows one attempt."""

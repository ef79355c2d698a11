"""Endpoints, deliveries, cooldowns, and the actions that may follow an attempt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

RESPONSE_BODY_MAX_CHARS: Final = 1000  # P-10


class WebhookEvent(StrEnum):
    """Event names in addition to those declared by domains.

    Full stops separate the levels, as Standard Webhooks recommends.
    """

    JOB_COMPLETED = "job.completed"
    JOB_FAILED = "job.failed"
    TEST = "webhook.test"
    """Sent only at the tenant's request."""


class EndpointKind(StrEnum):
    """Format of the messages of an endpoint."""

    WEBHOOK = "webhook"
    """The event as JSON, as Standard Webhooks describes it."""
    SLACK = "slack"
    DISCORD = "discord"
    TEAMS = "teams"
    NTFY = "ntfy"


class DeliveryStatus(StrEnum):
    """Status of a delivery; the last two are final."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class SealedSecrets:
    """Encrypted secrets that sign deliveries."""

    newest: bytes = field(repr=False)
    old: bytes | None = field(default=None, repr=False)
    """Previous secret, which also signs …"""
    old_until: datetime | None = None
    """… until this time."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A tenant's webhook; fields that may contain a credential stay out of the repr."""

    tenant: str
    id: str
    name: str
    url: str = field(repr=False)
    kind: EndpointKind = EndpointKind.WEBHOOK
    events: frozenset[str]
    """Names and wildcards; see `subscriptions`."""
    secrets: SealedSecrets
    header_names: tuple[str, ...] = ()
    """Names of the headers that are sent with every delivery; they passed `rules.allowed_headers`.
    """
    sealed_headers: tuple[bytes, ...] = field(default=(), repr=False)
    """Names and values, encrypted in parts: a value may be a credential."""
    without_accounts: bool = False
    """Whether it gets no events of accounts, because the caller who set it may not read them."""
    source_id: str | None = None
    """Only source whose runs the webhook reports; the webhook is removed with it."""
    is_active: bool = True
    disabled_reason: str | None = None
    """Reason why it is inactive, if the tenant didn't disable it."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Version, incremented by every change."""


@dataclass(frozen=True, kw_only=True)
class RequestedEndpoint:
    """An endpoint as its tenant requests it."""

    name: str
    url: str = field(repr=False)
    events: frozenset[str]
    """Names and wildcards as returned by `subscriptions.pattern_of`."""
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    """Headers; None keeps the current ones, which can't be read back."""
    is_active: bool = True
    without_accounts: bool = False
    """Whether the caller may not read events of accounts."""
    kind: EndpointKind | None = None
    """Format of the messages; None keeps the current one, of a new endpoint the event as JSON."""
    source_id: str | None = None
    """Only source whose runs a new endpoint is notified of."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """Content and destination of one delivery: the payload of its job."""

    id: str
    """Id sent as `webhook-id`, the same on every attempt, so that receivers recognise duplicates.
    """
    endpoint_id: str | None
    """Id of the endpoint; None for the `webhook_url` of a single job."""
    url: str | None = field(repr=False)
    """The `webhook_url`; an endpoint's URL is looked up for each attempt."""
    sealed_headers: tuple[bytes, ...] = field(default=(), repr=False)
    """Headers for that URL; an endpoint's are looked up for each attempt."""
    event: str
    """Name of the event for its target."""
    body: str = field(repr=False)
    """Text whose UTF-8 form is signed and sent."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Delivery of one message: a line of the delivery log."""

    tenant: str
    id: str
    """Id of the message."""
    endpoint_id: str | None
    url: str | None = field(repr=False)
    """URL without secrets; None if the endpoint was removed before the first attempt."""
    event: str
    job_id: str | None
    """Job whose end is reported; None for other events."""
    job_type: str | None
    """Kind of that job."""
    payload: Mapping[str, Any] = field(repr=False)
    """Payload as sent, without secrets, and without its result if it is too large for the log."""
    delivery_job_id: str
    """Job that delivers the message; each redelivery has its own."""
    status: DeliveryStatus = DeliveryStatus.PENDING
    attempts: int = 0
    """Attempts that the delivering job has made so far."""
    max_attempts: int
    last_attempt_at: datetime | None = None
    """Start of the last attempt, as in its `webhook-timestamp`."""
    response_status: int | None = None
    """Status of the last attempt's response; None without a response."""
    response_body: str | None = field(default=None, repr=False)
    """Beginning of that response without secrets, at most RESPONSE_BODY_MAX_CHARS."""
    error: str | None = None
    """Reason why it isn't delivered."""
    created_at: datetime
    delivered_at: datetime | None = None
    next_attempt_at: datetime | None = None
    """Time of the next attempt; None once the status is final."""


@dataclass(frozen=True, kw_only=True)
class Cooldown:
    """A target that didn't answer, was overloaded or slow; its deliveries wait."""

    failures: int
    """Consecutive failures, including slow answers."""
    until: datetime
    """End of the cooldown; after it, one delivery at a time gets the permit to try the target."""


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """The endpoint accepted the event."""


@dataclass(frozen=True, kw_only=True)
class Retry:
    """The delivery is retried later."""

    after_seconds: float
    throttle: bool = False
    """Whether the endpoint is overloaded, so that its other deliveries should also wait."""


@dataclass(frozen=True, kw_only=True)
class GiveUp:
    """All attempts are used."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Disable:
    """The endpoint refuses further events; this delivery has failed."""


Action = Delivered | Retry | GiveUp | Disable
"""Action that follows one attempt."""

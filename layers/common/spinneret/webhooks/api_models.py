"""Requests and answers about webhooks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.jobs.models import JobStatus
from spinneret.kernel import limits
from spinneret.kernel.clock import optional_stamp, stamp
from spinneret.kernel.paging import cursor_of
from spinneret.redaction import redact_text
from spinneret.webhooks.models import (
    Delivery,
    DeliveryPage,
    DeliveryStatus,
    Endpoint,
    EndpointPage,
    SealedSecrets,
    WebhookEvent,
)
from spinneret.webhooks.service import EndpointWish

Name = Annotated[str, StringConstraints(min_length=1, max_length=limits.WEBHOOK_NAME_MAX_CHARS)]
UrlText = Annotated[str, StringConstraints(min_length=1, max_length=limits.URL_MAX_CHARS)]
Events = Annotated[
    frozenset[Literal[WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED]],
    Field(min_length=1, strict=False),
]


class EndpointRequest(BaseModel):
    """Body of `POST /api/v1/webhooks`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    url: UrlText
    events: Events = frozenset({WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED})
    headers: Annotated[dict[str, str] | None, Field(repr=False)] = None
    """Sent with every delivery; never shown again."""
    active: bool = True

    def wish(self) -> EndpointWish:
        """The request as the service takes it."""
        return EndpointWish(
            name=self.name,
            url=self.url,
            events=self.events,
            headers=self.headers,
            active=self.active,
        )


class EndpointUpdate(EndpointRequest):
    """Body of `PUT /api/v1/webhooks/{endpoint_id}`: the whole endpoint but its secret.

    Without `headers` they stay as they are; `{}` removes them.
    """


class EndpointView(BaseModel):
    """An endpoint without its secrets and the values of its headers."""

    endpoint_id: str
    name: str
    url: str
    """Without what is secret in it, unless the caller may change it."""
    events: list[WebhookEvent]
    header_names: list[str]
    active: bool
    disabled_reason: str | None
    """Why it is inactive, when that wasn't asked for."""
    old_secret_until: str | None
    """Up to then the secret before the last rotation signs too."""
    created_at: str
    updated_at: str


class IssuedEndpoint(EndpointView):
    """An endpoint with its newest secret, which is shown this once."""

    secret: str


class EndpointList(BaseModel):
    """One page of endpoints, newest first."""

    items: list[EndpointView]
    next_cursor: str | None
    has_more: bool


class DefaultSecret(BaseModel):
    """What the `webhook_url`s of single jobs are signed with, shown this once."""

    secret: str
    old_secret_until: str | None


class DeliveryView(BaseModel):
    """One line of the delivery log."""

    delivery_id: str
    """Sent as `webhook-id`."""
    endpoint_id: str | None
    job_id: str
    """The job that delivers it."""
    url: str | None
    event: WebhookEvent
    status: DeliveryStatus
    attempts: int
    response_code: int | None
    response_text: str | None
    error: str | None
    created_at: str
    delivered_at: str | None
    next_attempt_at: str | None


class DeliveryList(BaseModel):
    """One page of deliveries, newest first."""

    items: list[DeliveryView]
    next_cursor: str | None
    has_more: bool


class DeliverySubmission(BaseModel):
    """Answer to a test and to a redelivery."""

    delivery_id: str
    job_id: str
    status: JobStatus
    message: str


def endpoint_view(endpoint: Endpoint, *, whole_url: bool = False) -> EndpointView:
    """The view of an endpoint; `whole_url` is for callers that may set it (scope `write`)."""
    return EndpointView(
        endpoint_id=endpoint.id,
        name=endpoint.name,
        url=endpoint.url if whole_url else redact_text(endpoint.url),
        events=sorted(endpoint.events),
        header_names=list(endpoint.header_names),
        active=endpoint.active,
        disabled_reason=endpoint.disabled_reason,
        old_secret_until=optional_stamp(endpoint.secrets.old_until),
        created_at=stamp(endpoint.created_at),
        updated_at=stamp(endpoint.updated_at),
    )


def issued_endpoint(endpoint: Endpoint, secret: str) -> IssuedEndpoint:
    """The answer to who asked for the secret."""
    return IssuedEndpoint(**endpoint_view(endpoint, whole_url=True).model_dump(), secret=secret)


def endpoint_list(page: EndpointPage, *, whole_url: bool = False) -> EndpointList:
    """The view of a page; see `endpoint_view`."""
    return EndpointList(
        items=[endpoint_view(endpoint, whole_url=whole_url) for endpoint in page.endpoints],
        next_cursor=cursor_of(page.after),
        has_more=page.after is not None,
    )


def default_secret(secrets: SealedSecrets, secret: str) -> DefaultSecret:
    """The answer to who asked for the secret."""
    return DefaultSecret(secret=secret, old_secret_until=optional_stamp(secrets.old_until))


def delivery_list(page: DeliveryPage) -> DeliveryList:
    """The view of a page."""
    return DeliveryList(
        items=[_delivery_view(delivery) for delivery in page.deliveries],
        next_cursor=cursor_of(page.after),
        has_more=page.after is not None,
    )


def _delivery_view(delivery: Delivery) -> DeliveryView:
    return DeliveryView(
        delivery_id=delivery.id,
        endpoint_id=delivery.endpoint_id,
        job_id=delivery.job_id,
        url=delivery.url,
        event=delivery.event,
        status=delivery.status,
        attempts=delivery.attempts,
        response_code=delivery.response_code,
        response_text=delivery.response_text,
        error=delivery.error,
        created_at=stamp(delivery.created_at),
        delivered_at=optional_stamp(delivery.delivered_at),
        next_attempt_at=optional_stamp(delivery.next_attempt_at),
    )

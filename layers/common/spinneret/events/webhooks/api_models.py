"""Requests and answers about webhooks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import (
    Delivery,
    DeliveryStatus,
    Endpoint,
    SealedSecrets,
    WebhookEvent,
)
from spinneret.events.webhooks.service import RequestedEndpoint
from spinneret.events.webhooks.subscriptions import pattern_of
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.outbox.types import all_event_types
from spinneret.redaction import redact_text

Name = Annotated[str, StringConstraints(min_length=1, max_length=bounds.WEBHOOK_NAME_MAX_CHARS)]
UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]


def _checked(name: str) -> str:
    return pattern_of(name, all_event_types())


EventName = Annotated[
    str,
    StringConstraints(max_length=limits.WEBHOOK_EVENT_MAX_CHARS),
    AfterValidator(_checked),
    Field(
        description="A type of event, `job.completed` or `job.failed` for the ends of jobs of all "
        "kinds, `*` for every event, or `crawl.*` for those that begin with `crawl.`; `completed` "
        "and `failed` are short for those of jobs."
    ),
]
Events = Annotated[
    frozenset[EventName],
    Field(min_length=1, max_length=limits.WEBHOOK_EVENTS_MAX, strict=False),
]


class EndpointUpdate(BaseModel):
    """Body of `PUT /api/v1/webhooks/{endpoint_id}`: the whole endpoint but its secret.

    Without `headers` they stay as they are; `{}` removes them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    url: UrlText
    events: Events = frozenset({WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED})
    headers: Annotated[dict[str, str] | None, Field(repr=False)] = None
    """Sent with every delivery; never shown again."""
    is_active: bool = True

    @property
    def endpoint(self) -> RequestedEndpoint:
        """The request as the service takes it."""
        return RequestedEndpoint(
            name=self.name,
            url=self.url,
            events=self.events,
            headers=self.headers,
            is_active=self.is_active,
        )


class EndpointRequest(EndpointUpdate):
    """Body of `POST /api/v1/webhooks`."""

    secret: Annotated[str | None, Field(repr=False, max_length=bounds.WEBHOOK_SECRET_MAX_CHARS)] = (
        None
    )
    """`whsec_` and the base64 form of 24 to 64 random bytes; without it one is generated."""


class EndpointView(BaseModel):
    """An endpoint without its secrets and the values of its headers."""

    endpoint_id: str
    name: str
    url: str
    """Without what is secret in it, unless the caller may change it."""
    events: list[str]
    header_names: list[str]
    source_id: str | None
    """The source whose runs alone it is notified of."""
    is_active: bool
    disabled_reason: str | None
    """Why it is inactive, when that wasn't asked for."""
    old_secret_until: str | None
    """Up to then the secret before the last rotation signs too."""
    created_at: str
    updated_at: str


class IssuedEndpoint(EndpointView):
    """An endpoint with its newest secret, which is shown this once."""

    secret: str


class EndpointList(ListOf[EndpointView]):
    """One page of endpoints, newest first."""


class DefaultSecret(BaseModel):
    """What the `webhook_url`s of single jobs are signed with, shown this once."""

    secret: str
    old_secret_until: str | None


class DeliveryView(View):
    """One line of the delivery log."""

    delivery_id: Annotated[str, Field(validation_alias="id")]
    """Sent as `webhook-id`."""
    endpoint_id: str | None
    job_id: str | None
    """The job whose end is reported; null for other events."""
    job_type: str | None
    event: str
    payload: dict[str, Any]
    """What is sent, without secrets; a result that is too large for the log is left out."""
    delivery_job_id: str
    """The job that delivers it."""
    url: str | None
    status: DeliveryStatus
    attempts: int
    max_attempts: int
    last_attempt_at: Timestamp | None
    next_attempt_at: Timestamp | None
    response_status: int | None
    response_body: str | None
    """The beginning of the answer, without secrets."""
    error: str | None
    created_at: Timestamp
    delivered_at: Timestamp | None


class DeliveryList(ListOf[DeliveryView]):
    """One page of deliveries, newest first."""


class DeliverySubmission(BaseModel):
    """Answer to a test and to a redelivery."""

    delivery_id: str
    job_id: str
    """The job that delivers it."""
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
        source_id=endpoint.source_id,
        is_active=endpoint.is_active,
        disabled_reason=endpoint.disabled_reason,
        old_secret_until=optional_stamp(endpoint.secrets.old_until),
        created_at=to_iso(endpoint.created_at),
        updated_at=to_iso(endpoint.updated_at),
    )


def issued_endpoint(endpoint: Endpoint, secret: str) -> IssuedEndpoint:
    """The answer to who asked for the secret."""
    return IssuedEndpoint(**endpoint_view(endpoint, whole_url=True).model_dump(), secret=secret)


def endpoint_list(page: Page[Endpoint], *, whole_url: bool = False) -> EndpointList:
    """The view of a page; see `endpoint_view`."""
    return EndpointList.page(page, lambda endpoint: endpoint_view(endpoint, whole_url=whole_url))


def default_secret(secrets: SealedSecrets, secret: str) -> DefaultSecret:
    """The answer to who asked for the secret."""
    return DefaultSecret(secret=secret, old_secret_until=optional_stamp(secrets.old_until))


def delivery_list(page: Page[Delivery]) -> DeliveryList:
    """The view of a page."""
    return DeliveryList.page(page, DeliveryView.of)

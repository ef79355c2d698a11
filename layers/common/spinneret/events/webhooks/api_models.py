"""Requests and responses of webhooks."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from spinneret.access.trail.event_types import EVENT_TYPES as OF_ACCOUNTS
from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import (
    Delivery,
    DeliveryStatus,
    Endpoint,
    EndpointKind,
    RequestedEndpoint,
    SealedSecrets,
    WebhookEvent,
)
from spinneret.events.webhooks.subscriptions import hint_at, pattern_of
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
    declared = all_event_types()
    pattern = pattern_of(name, declared)
    if pattern is None:
        refused = {"error": "no such event", "hint": hint_at(name, declared)}
        raise PydanticCustomError("value_error", "no such event", refused)
    return pattern


EventName = Annotated[
    str,
    StringConstraints(max_length=limits.WEBHOOK_EVENT_MAX_CHARS),
    AfterValidator(_checked),
    Field(
        description="Event type, `*` for all events, or a prefix such as `crawl.*`. "
        "`job.completed` and `job.failed` report the ends of jobs of all kinds; `completed` and "
        "`failed` are their short forms."
    ),
]
Events = Annotated[
    frozenset[EventName],
    Field(min_length=1, max_length=limits.WEBHOOK_EVENTS_MAX, strict=False),
]


class EndpointUpdate(BaseModel):
    """Body of `PUT /api/v1/webhooks/{endpoint_id}`: the complete endpoint except its secret.

    Omitted `headers` are kept for the same origin only; `{}` removes them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    """Name for people."""
    url: UrlText
    """URL that receives the events by POST."""
    kind: Annotated[EndpointKind | None, Field(strict=False)] = None
    """Format of the messages: the event as JSON (`webhook`, the default), or a text for people.

    Omitted, a change keeps it.
    """
    events: Events = frozenset({WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED})
    """Types of events to send."""
    headers: Annotated[dict[str, str] | None, Field(repr=False)] = None
    """Headers of every delivery; never returned."""
    is_active: bool = True

    def endpoint(self, *, accounts: bool) -> RequestedEndpoint:
        """Return the request as the service's input.

        `accounts` is whether the caller may read events of accounts.
        """
        return RequestedEndpoint(
            name=self.name,
            url=self.url,
            kind=self.kind,
            events=self.events,
            headers=self.headers,
            is_active=self.is_active,
            without_accounts=not accounts,
        )


class EndpointRequest(EndpointUpdate):
    """Body of `POST /api/v1/webhooks`."""

    secret: Annotated[str | None, Field(repr=False, max_length=bounds.WEBHOOK_SECRET_MAX_CHARS)] = (
        None
    )
    """`whsec_` and the base64 form of 24 to 64 random bytes; generated if omitted."""


class EndpointView(BaseModel):
    """An endpoint without its secrets and header values."""

    endpoint_id: str
    """Id of the webhook."""
    name: str
    """Name for people."""
    url: str
    """URL; its secrets are hidden unless the caller may change it."""
    kind: EndpointKind
    """Format of the messages."""
    events: list[str]
    """Types of events to send."""
    header_names: list[str]
    """Names of the custom headers, whose values are secret."""
    source_id: str | None
    """Source whose runs are reported, and no other events."""
    is_active: bool
    disabled_reason: str | None
    """Reason why the service deactivated it; null if it is active or the tenant deactivated it."""
    old_secret_until: str | None
    """Time until which the previous secret signs, too."""
    created_at: str
    updated_at: str


class IssuedEndpoint(EndpointView):
    """An endpoint with its newest secret, which no later response contains."""

    secret: str
    """Secret that signs the events, with the prefix `whsec_`; shown only once."""


class EndpointList(ListOf[EndpointView]):
    """One page of endpoints, newest first."""


class DefaultSecret(BaseModel):
    """Secret for deliveries to the `webhook_url`s of single jobs.

    No later response contains it.
    """

    secret: str
    """Secret with the prefix `whsec_`; shown only once."""
    old_secret_until: str | None
    """End of the previous secret's use (RFC 3339, UTC); null without one."""


class DeliveryView(View):
    """One line of the delivery log."""

    delivery_id: Annotated[str, Field(validation_alias="id")]
    """Value of the header `webhook-id`."""
    endpoint_id: str | None
    """Id of the webhook; null for a `webhook_url` of a job."""
    job_id: str | None
    """Job whose end is reported; null for other events."""
    job_type: str | None
    """Kind of the job that the event is about; null for a test."""
    event: str
    """Type of the event."""
    payload: dict[str, Any]
    """Body of the message, without secrets; results too large for the log are omitted."""
    delivery_job_id: str
    """Job that delivers the message."""
    url: str | None
    """URL of the receiver."""
    status: DeliveryStatus
    """State of the delivery."""
    attempts: int
    max_attempts: int
    last_attempt_at: Timestamp | None
    """Time of the last attempt (RFC 3339, UTC); null before the first one."""
    next_attempt_at: Timestamp | None
    """Time of the next attempt (RFC 3339, UTC); null if there is none."""
    response_status: int | None
    """HTTP status of the receiver's last response; null without a response."""
    response_body: str | None
    """Beginning of the response, without secrets."""
    error: str | None
    """Reason for the last failure; null without one."""
    created_at: Timestamp
    delivered_at: Timestamp | None
    """Time of the receiver's acceptance (RFC 3339, UTC); null before it."""


class DeliveryList(ListOf[DeliveryView]):
    """One page of deliveries, newest first."""


class DeliverySubmission(BaseModel):
    """Response to a test or a redelivery."""

    delivery_id: str
    """Id of the delivery."""
    job_id: str
    """Job that delivers the message."""
    status: JobStatus
    """State of the delivery's job."""
    message: str


def endpoint_view(endpoint: Endpoint, *, whole_url: bool) -> EndpointView:
    """Return the view of an endpoint.

    `whole_url` is for callers that may set it (scope `write`).
    """
    return EndpointView(
        endpoint_id=endpoint.id,
        name=endpoint.name,
        url=endpoint.url if whole_url else redact_text(endpoint.url),
        kind=endpoint.kind,
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
    """Return the response with a new secret."""
    return IssuedEndpoint(**endpoint_view(endpoint, whole_url=True).model_dump(), secret=secret)


def endpoint_list(page: Page[Endpoint], *, whole_url: bool) -> EndpointList:
    """Return the view of a page; see `endpoint_view`."""
    return EndpointList.page(page, lambda endpoint: endpoint_view(endpoint, whole_url=whole_url))


def delivery_view(delivery: Delivery, *, accounts: bool) -> DeliveryView:
    """Return the view of a line; what happened to an account is left out without `accounts`."""
    view = DeliveryView.of(delivery)
    if accounts or delivery.event not in OF_ACCOUNTS:
        return view
    return view.model_copy(update={"payload": {**view.payload, "data": {}}})


def default_secret(secrets: SealedSecrets, secret: str) -> DefaultSecret:
    """Return the response with a new secret."""
    return DefaultSecret(secret=secret, old_secret_until=optional_stamp(secrets.old_until))

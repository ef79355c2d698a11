"""Domain events on an EventBridge bus.

Source `spinneret`, DetailType the event's type, Detail `{id, type, tenant, subject, sequence,
occurred_at, data}`. The bus delivers at least once and unordered: `id` identifies repetitions,
`sequence` gives the order.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import boto3

from spinneret.aws.clients import CONFIG, translate_aws_errors
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import DependencyUnavailable, PermanentError
from spinneret.outbox.models import DomainEvent

SOURCE: Final = "spinneret"
# Codes of PutEventsResultEntry for which a retry of the same entry can't succeed.
_REFUSALS: Final = frozenset({"InvalidArgument", "MalformedDetail", "ValidationException"})


class BusClient(Protocol):
    """The method of boto3's client `events` that is used."""

    def put_events(self, *, Entries: Sequence[Mapping[str, Any]]) -> Any:  # noqa: N803 - boto3's
        """See the API reference of EventBridge."""


def bus_client() -> BusClient:
    """Return a client for event buses."""
    client: BusClient = boto3.client("events", config=CONFIG)
    return client


class EventBridgeBus:
    """Implements Sink, with one entry per call (PutEvents takes ten).

    Entries of one call fail individually, and a subject's next event must follow only after this
    one succeeded.
    """

    name: Final = "bus"

    def __init__(self, client: BusClient, bus: str) -> None:
        self._client = client
        self._bus = bus

    def take(self, event: DomainEvent) -> None:
        """See Sink. PutEvents returns 200 even if an entry failed: each entry has its own error."""
        with translate_aws_errors("eventbridge"):
            answer = self._client.put_events(
                Entries=[
                    {
                        "EventBusName": self._bus,
                        "Source": SOURCE,
                        "DetailType": event.type,
                        "Time": event.occurred_at,
                        "Detail": canonical_json(_detail(event)).decode(),
                    }
                ]
            )
        if not answer["FailedEntryCount"]:
            return
        for entry in answer["Entries"]:
            code = entry.get("ErrorCode")
            if code in _REFUSALS:
                raise PermanentError(f"the bus refuses the event: {code}")
            if code is not None:
                raise DependencyUnavailable("eventbridge", f"the event failed: {code}")


def _detail(event: DomainEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.type,
        "tenant": event.tenant,
        "subject": event.subject,
        "sequence": event.sequence,
        "occurred_at": to_iso(event.occurred_at),
        "data": event.data,
    }

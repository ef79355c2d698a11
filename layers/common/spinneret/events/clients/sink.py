"""WebSocket clients as a sink of domain events."""

from typing import Final

from spinneret.access.trail.event_types import ENDING, EVENT_TYPES
from spinneret.jobs.live.pushes import Subscribers
from spinneret.jobs.live.service import LiveService
from spinneret.kernel.service import service
from spinneret.outbox.models import DomainEvent


@service
class ClientSink:
    """Implements Sink: pushes events to subscribers, except events of accounts.

    Reading accounts needs a permission that most subscribers lack. An event that ends a person's
    sessions closes the person's connections instead; clients with a valid session reconnect.
    """

    name: Final = "subscribers"

    subscribers: Subscribers
    live: LiveService

    def take(self, event: DomainEvent) -> None:
        """See Sink. Best effort, so it never fails."""
        if event.type not in EVENT_TYPES:
            self.subscribers.take(event)
        elif event.type in ENDING:
            self.live.end_all(event.tenant, event.subject)

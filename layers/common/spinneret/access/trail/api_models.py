"""Responses about the audit trail."""

from typing import Any

from pydantic import BaseModel

from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf
from spinneret.outbox.models import DomainEvent


class AccountEventView(BaseModel):
    """An event of an account."""

    type: str
    """Type, such as `user.signed_in`."""
    user_id: str
    """Id of the person whose account it is."""
    occurred_at: str
    """Time of the event (RFC 3339, UTC)."""
    data: dict[str, Any]
    """Further facts: `address` of a sign-in, `by` and roles of a change."""


class AccountEventList(ListOf[AccountEventView]):
    """One page of events, newest first; they are kept for a year."""


def account_event_view(event: DomainEvent) -> AccountEventView:
    """Return the view of an event."""
    data = {name: value for name, value in event.data.items() if name != "user_id"}
    return AccountEventView(
        type=event.type, user_id=event.subject, occurred_at=to_iso(event.occurred_at), data=data
    )

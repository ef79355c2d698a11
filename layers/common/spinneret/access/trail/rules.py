"""Events of accounts, as pure functions."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.access.trail.event_types import DEACTIVATED, ROLE_CHANGED
from spinneret.access.users.models import User
from spinneret.outbox.models import DomainEvent

_MICROSECOND: Final = timedelta(microseconds=1)
_POSITION: Final = re.compile(r"[0-9]{20}#[A-Za-z0-9_-]{1,80}#[a-z_.]{1,80}")


def is_position(text: str) -> bool:
    """Return whether `text` has the form of an event's place in the trail."""
    return _POSITION.fullmatch(text) is not None


def account_event(user: User, event_type: str, now: datetime, **data: Any) -> DomainEvent:
    """Return an event of an account. Time orders the events of one account."""
    return DomainEvent(
        tenant=user.tenant,
        type=event_type,
        subject=user.id,
        sequence=(now - datetime.fromtimestamp(0, now.tzinfo)) // _MICROSECOND,
        occurred_at=now,
        data={"user_id": user.id, **data},
    )


def changes(former: User, user: User, by: str, now: datetime) -> Sequence[DomainEvent]:
    """Return the events of a change of a user by the caller with the id `by`."""
    found = []
    if former.role is not user.role:
        roles = {"from_role": str(former.role), "to_role": str(user.role)}
        found.append(account_event(user, ROLE_CHANGED, now, by=by, **roles))
    if former.is_active and not user.is_active:
        found.append(account_event(user, DEACTIVATED, now, by=by))
    return found

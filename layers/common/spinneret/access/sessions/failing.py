"""Count failed checks of passwords."""

from datetime import datetime

from spinneret.access.sessions.ports import FailureStore
from spinneret.access.sessions.rules import notable
from spinneret.access.trail.ports import Trail
from spinneret.access.trail.rules import account_event
from spinneret.access.users.models import User


def count_failure(
    failures: FailureStore,
    trail: Trail,
    user: User,
    account: tuple[str, str],
    address: str,
    now: datetime,
    *,
    known: bool = True,
) -> None:
    """Count a failure of an account (tenant and e-mail address), and record it if it is notable.

    `known` is whether the account exists; recording that of a stranger takes as long.
    """
    event_type = notable(failures.add(*account, address, now))
    if event_type is not None:
        trail.record(account_event(user, event_type, now, address=address), known=known)

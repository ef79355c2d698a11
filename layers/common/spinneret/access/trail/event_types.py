"""Types of the domain events of accounts; the audit trail shows the same events."""

from typing import Final

from spinneret.outbox.types import EventTypes

SIGNED_IN: Final = "user.signed_in"
SIGNED_OUT: Final = "user.signed_out"
SIGN_IN_FAILED: Final = "user.sign_in_failed"
LOCKED_OUT: Final = "user.locked_out"
SESSION_REVOKED: Final = "user.session_revoked"
PASSWORD_CHANGED: Final = "user.password_changed"  # noqa: S105 - a type of events
ROLE_CHANGED: Final = "user.role_changed"
DEACTIVATED: Final = "user.deactivated"
DELETED: Final = "user.deleted"

EVENT_TYPES: Final[EventTypes] = {
    SIGNED_IN: "A person has signed in.",
    SIGNED_OUT: "A person has ended one session, or all.",
    SIGN_IN_FAILED: "A sign-in to an account failed, as the first one from its address.",
    LOCKED_OUT: "An account refuses sign-ins for a while: from one address, or from all.",
    SESSION_REVOKED: "A session has ended, because a former refresh token was used again.",
    PASSWORD_CHANGED: "A person has chosen a password; all sessions have ended.",
    ROLE_CHANGED: "A person has another role; all sessions have ended.",
    DEACTIVATED: "A person may no longer sign in; all sessions have ended.",
    DELETED: "A person was deleted; all sessions have ended.",
}

ENDING: Final = frozenset(
    {SIGNED_OUT, SESSION_REVOKED, PASSWORD_CHANGED, ROLE_CHANGED, DEACTIVATED, DELETED}
)
"""Types of events after which a session, or all sessions, of a person have ended."""

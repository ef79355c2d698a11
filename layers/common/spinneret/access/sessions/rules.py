"""Refresh tokens and delays of sign-in, as pure functions."""

import hmac
from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.sessions.models import Failures, Session
from spinneret.access.tenants.rules import is_tenant
from spinneret.access.trail.event_types import LOCKED_OUT, SIGN_IN_FAILED
from spinneret.kernel.ids import is_id

REFRESH_PREFIX: Final = "spr_"
_PARTS: Final = 4
_TAG_CHARS: Final = 32


def refresh_token(tenant: str, user_id: str, session_id: str, tag_key: str, secret: bytes) -> str:
    """Return the token of a session; clients treat it as opaque."""
    secret_hex = secret.hex()
    named = f"{tenant}.{user_id}.{session_id}"
    return f"{REFRESH_PREFIX}{named}.{secret_hex}{_tag(tag_key, secret_hex)}"


def issued(session: Session, token: str) -> bool:
    """Return whether the session issued this token, at any time.

    Only such a token may end the session: ids of sessions aren't secret.
    """
    last = token.rpartition(".")[2]
    secret_hex, tag = last[:-_TAG_CHARS], last[-_TAG_CHARS:]
    wanted = _tag(session.tag_key, secret_hex)
    return bool(session.tag_key) and hmac.compare_digest(wanted.encode(), tag.encode())


def session_of(token: str) -> tuple[str, str, str] | None:
    """Return tenant, user and session that a refresh token names; None if it is malformed."""
    parts = token.removeprefix(REFRESH_PREFIX).split(".")
    if not token.startswith(REFRESH_PREFIX) or len(parts) != _PARTS:
        return None
    tenant, user_id, session_id, _ = parts
    if not is_tenant(tenant) or not is_id(user_id) or not is_id(session_id):
        return None
    return tenant, user_id, session_id


def is_repeated(session: Session, token_hash: str, now: datetime) -> bool:
    """Return whether a token was rotated so recently that it gets the same successor again."""
    return session.former_hash == token_hash and is_new(session, now)


def is_new(session: Session, now: datetime) -> bool:
    """Return whether the token in force is so new that requests with the former one may follow."""
    return session.rotated_at is not None and now - session.rotated_at <= timedelta(
        seconds=limits.SAME_SUCCESSOR_SECONDS
    )


def notable(failures: Failures) -> str | None:
    """Return the type of the event that a failure causes; most cause none.

    An account has at most one for each of its ACCOUNT_FAILURES_PER_HOUR and address, and each
    address two until its next success: a flood of failures is no flood of events.
    """
    if failures.everywhere == limits.ACCOUNT_FAILURES_PER_HOUR:
        return LOCKED_OUT
    if failures.here == limits.FREE_FAILURES + 1:
        return LOCKED_OUT
    return SIGN_IN_FAILED if failures.here == 1 else None


def _tag(tag_key: str, secret_hex: str) -> str:
    return hmac.digest(tag_key.encode(), secret_hex.encode(), "sha256").hex()[:_TAG_CHARS]


def is_locked(failures: Failures, now: datetime) -> bool:
    """Return whether attempts are refused, even with the right password.

    The fifth failure from an address delays the next attempt by 30 s, each further one by twice as
    long, up to an hour. All addresses wait only after 100 failures in the hour.
    """
    if failures.everywhere >= limits.ACCOUNT_FAILURES_PER_HOUR:
        return True
    over = failures.here - limits.FREE_FAILURES
    if over <= 0 or failures.last_at is None:
        return False
    delay = min(limits.FIRST_DELAY_SECONDS * 2 ** min(over - 1, 10), limits.LONGEST_DELAY_SECONDS)
    return now < failures.last_at + timedelta(seconds=delay)

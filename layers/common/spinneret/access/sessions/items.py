"""Conversion of sessions to and from DynamoDB items; keys of sessions and failures."""

import hashlib
from datetime import datetime
from typing import Final

from spinneret.access.sessions.models import Session
from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item
from spinneret.kernel.clock import epoch_seconds


def session_key(tenant: str, user_id: str, session_id: str) -> Item:
    """Primary key of a session."""
    return {"pk": f"T#{tenant}#SESSIONS#{user_id}", "sk": session_id}


def failures_key(tenant: str, email: str, address: str) -> Item:
    """Primary key of an account's failures from one address; the account may not exist."""
    account = hashlib.sha256(email.encode("utf-8", "surrogatepass")).hexdigest()
    return {"pk": f"T#{tenant}#FAILURES#{account}", "sk": f"FROM#{address[:100]}"}


def hour_key(tenant: str, email: str, now: datetime) -> Item:
    """Primary key of an account's failures from all addresses in one hour."""
    return {**failures_key(tenant, email, ""), "sk": f"HOUR#{now:%Y-%m-%dT%H}"}


SESSIONS: Final = Codec(
    Session,
    key=lambda session: session_key(session.tenant, session.user_id, session.id),
    derived=lambda session: {"purge_at": epoch_seconds(session.expires_at)},
)

"""Ports of sessions."""

from datetime import datetime
from typing import Protocol

from spinneret.access.sessions.models import Failures, Session
from spinneret.outbox.models import DomainEvent


class SessionStore(Protocol):
    """Sessions by user. Methods raise DependencyUnavailable; reads are consistent."""

    def add(self, session: Session, event: DomainEvent) -> None:
        """Store a new session with the event that reports it."""

    def get(self, tenant: str, user_id: str, session_id: str) -> Session | None:
        """Return the session, or None once it was ended."""

    def rotate(self, session: Session, token_hash: str, now: datetime) -> Session | None:
        """Put a token in force if the given session's is; return the session then stored.

        Return None if the session was ended.
        """

    def remove(self, session: Session, event: DomainEvent) -> None:
        """End the session, and store the event that reports it."""


class FailureStore(Protocol):
    """Failed sign-ins by account and address. Methods raise DependencyUnavailable."""

    def get(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        """Return the failures that still count."""

    def add(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        """Count a failed attempt; return the failures with it."""

    def clear(self, tenant: str, email: str, address: str) -> None:
        """Forget the failures of this address after a success."""


class SuccessorSecret(Protocol):
    """Keyed hash whose key can't be read."""

    def of(self, text: str) -> bytes:
        """Return 32 bytes, always the same for a text. Raises DependencyUnavailable."""

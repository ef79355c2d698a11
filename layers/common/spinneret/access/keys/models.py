"""Credentials and what they allow."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.kernel import bounds


class Scope(StrEnum):
    """What a key may do; `admin` includes `write`, `write` includes `read`."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


INCLUDED = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.WRITE: frozenset({Scope.READ, Scope.WRITE}),
    Scope.ADMIN: frozenset({Scope.READ, Scope.WRITE, Scope.ADMIN}),
}


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A credential as it is stored: by the hash of the secret that its holder has."""

    id: str
    tenant: str
    name: str
    secret_hash: str = field(repr=False)
    prefix: str
    """The secret's first characters, by which its holder recognises it."""
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    rate_limit_rpm: int = bounds.KEY_REQUESTS_PER_MINUTE

    def is_active(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who is asking."""

    tenant: str
    key_id: str
    scopes: frozenset[Scope]
    rate_limit_rpm: int = bounds.KEY_REQUESTS_PER_MINUTE
    job_id: str | None = None
    """The one job that a ticket shows; None for the holder of a key."""
    expires_at: datetime | None = None
    """When the key or the ticket ends by itself; None for never."""

    def may(self, scope: Scope) -> bool:
        """Whether one of the scopes includes `scope`."""
        return any(scope in INCLUDED[own] for own in self.scopes)


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """Stands in for a key, for a short time and one job, where no header can be sent."""

    secret: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class StoredTicket:
    """A ticket as it is stored; it lives no longer than the key that it was issued to."""

    secret_hash: str = field(repr=False)
    tenant: str
    key_id: str
    job_id: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class WindowBucket:
    """The requests of one key that were admitted in one second."""

    last: int
    """When the last of them came at the latest, in microseconds since 1970."""
    count: int


@dataclass(frozen=True, kw_only=True)
class SlidingWindow:
    """The requests of one key that still count; see rules.py."""

    slot: int
    """The second of the latest ones, since 1970."""
    began: int
    """When the first request of the slot came, in microseconds since 1970."""
    count: int
    """Requests of the slot."""
    room: int
    """Requests that the slot may admit in all."""
    past: tuple[WindowBucket, ...] = ()
    """Earlier slots in their order, those without requests left out: 60 at most."""


@dataclass(frozen=True, kw_only=True)
class RateLimitStatus:
    """A key's limit after one request: whether it was admitted, and how many more would be."""

    admitted: bool
    limit: int
    remaining: int
    """Requests that would be admitted at this moment."""
    reset_seconds: int
    """Whole seconds until more are admitted, if no request comes meanwhile."""

"""Credentials and what they allow."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.kernel import limits


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
    requests_per_minute: int = limits.KEY_REQUESTS_PER_MINUTE

    def is_active(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, kw_only=True)
class KeyPage:
    """A tenant's keys, newest first; `after` is the id to go on after, None at the end."""

    keys: tuple[ApiKey, ...]
    after: str | None


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who is asking."""

    tenant: str
    key_id: str
    scopes: frozenset[Scope]
    requests_per_minute: int = limits.KEY_REQUESTS_PER_MINUTE
    job_id: str | None = None
    """The one job that a ticket shows; None for the holder of a key."""

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
class RateWindow:
    """The requests of one key that were admitted in one minute; see rules.py."""

    minute: int
    """Since 1970."""
    count: int
    opens_at: int
    """From when on the next request is admitted, in microseconds since 1970."""
    step: int
    """How much each admission delays the next one, in microseconds."""


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a key's limit said to one request, and says to the next ones."""

    admitted: bool
    limit: int
    remaining: int
    """Requests that would be admitted at this moment."""
    reset_seconds: int
    """Whole seconds until there are more: until the minute ends or, with none remaining, until the
    next request is admitted."""

"""Credentials and what they allow."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.access import limits
from spinneret.access.permissions import ALL, Permission, Role


class Scope(StrEnum):
    """Permission of a key; `admin` includes `write`, `write` includes `read`."""

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
    """A stored credential; it holds the hash of the secret, which only the holder has."""

    id: str
    tenant: str
    name: str
    secret_hash: str = field(repr=False)
    prefix: str
    """First characters of the secret, by which its holder recognises it."""
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    rate_limit_rpm: int = limits.KEY_REQUESTS_PER_MINUTE
    permissions: frozenset[Permission] | None = None
    """The only permissions of a narrowed key; None for all that its scopes allow."""
    suspended: str | None = None
    """Reason for which its tenant is suspended; None if it isn't."""

    def is_active(self, now: datetime) -> bool:
        """Return whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The authenticated caller: a key, or a person by an access token."""

    tenant: str
    key_id: str
    """Id of the key or of the user."""
    scopes: frozenset[Scope]
    rate_limit_rpm: int = limits.KEY_REQUESTS_PER_MINUTE
    permissions: frozenset[Permission] = ALL
    job_id: str | None = None
    """The only job that a ticket gives access to; None for the holder of a key."""
    expires_at: datetime | None = None
    """Expiry of the key, token or ticket; None if it never expires."""
    role: Role | None = None
    """Role of a person; None for a key."""
    session_id: str | None = None
    """Session of a person's access token; None for a key."""

    def may(self, scope: Scope) -> bool:
        """Return whether one of the scopes includes `scope`."""
        return any(scope in INCLUDED[own] for own in self.scopes)

    def may_use(self, scope: Scope, permission: Permission) -> bool:
        """Return whether a key has both the scope and the permission, or a person the latter."""
        return (self.role is not None or self.may(scope)) and permission in self.permissions


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """Replaces a key for one job and a short time, where clients can't send a header."""

    secret: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class StoredTicket:
    """A stored ticket; it ends no later than its key or session."""

    secret_hash: str = field(repr=False)
    tenant: str
    key_id: str
    session_id: str | None = None
    """Session of the person that it was issued to; None for a key."""
    job_id: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class WindowBucket:
    """The requests of one key that were admitted in one second."""

    last: int
    """Latest time that its last request may have, in microseconds since 1970."""
    count: int


@dataclass(frozen=True, kw_only=True)
class SlidingWindow:
    """The requests of one key that still count; see rules.py."""

    slot: int
    """The latest second with requests, since 1970."""
    began: int
    """Time of the slot's first request, in microseconds since 1970."""
    count: int
    """Number of requests in the slot."""
    room: int
    """Number of requests that the slot may admit in total."""
    past: tuple[WindowBucket, ...] = ()
    """Earlier slots with requests, oldest first: 60 at most."""


@dataclass(frozen=True, kw_only=True)
class RateLimitStatus:
    """State of a key's limit after one request: the decision, and the remaining requests."""

    admitted: bool
    limit: int
    remaining: int
    """Number of requests that would be admitted now."""
    reset_seconds: int
    """Seconds, rounded up, until more requests are admitted if none comes meanwhile."""

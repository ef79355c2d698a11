"""Credentials and what they allow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
    secret_hash: str
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who is asking."""

    tenant: str
    key_id: str
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Whether one of the scopes includes `scope`."""
        return any(scope in INCLUDED[own] for own in self.scopes)

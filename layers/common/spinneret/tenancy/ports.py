"""What tenancy needs from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.tenancy.models import ApiKey


class KeyStore(Protocol):
    """API keys by the hash of their secret. Raises DependencyUnavailable."""

    def add(self, key: ApiKey) -> None:
        """Store a new key."""
        ...

    def find(self, secret_hash: str) -> ApiKey | None:
        """The key with this hash."""
        ...

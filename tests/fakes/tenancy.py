"""API keys in memory."""

from __future__ import annotations

from spinneret.kernel.errors import DependencyUnavailable
from spinneret.tenancy.models import ApiKey


class FakeKeyStore:
    """Implements KeyStore; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self.keys: dict[str, ApiKey] = {}

    def add(self, key: ApiKey) -> None:
        self._require()
        self.keys[key.secret_hash] = key

    def find(self, secret_hash: str) -> ApiKey | None:
        self._require()
        return self.keys.get(secret_hash)

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("dynamodb")

"""Issuing and checking API keys (T-01)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, ValidationFailed
from spinneret.kernel.ids import NewId
from spinneret.tenancy.models import ApiKey, Principal, Scope
from spinneret.tenancy.ports import KeyStore

KEY_PREFIX: Final = "spn_"  # lets secret scanners recognise a leaked key
_SECRET_BYTES: Final = 32  # 256 random bits: a plain SHA-256 suffices at rest
_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")  # goes into keys, so no `#` or `/`


class KeyService:
    """API keys: shown once, stored as SHA-256."""

    def __init__(
        self,
        *,
        keys: KeyStore,
        clock: Clock,
        new_id: NewId,
        random: Callable[[int], bytes],
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._new_id = new_id
        self._random = random

    def issue(
        self,
        tenant: str,
        name: str,
        scopes: frozenset[Scope],
        expires_at: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key; the second value is the secret, which can't be had again.

        Raises ValidationFailed for a tenant name that isn't lower case letters, digits, hyphens.
        """
        if not _TENANT.fullmatch(tenant):
            raise ValidationFailed("not a tenant name", details={"field": "tenant"})
        raw = self._random(_SECRET_BYTES)
        secret = KEY_PREFIX + base64.urlsafe_b64encode(raw).decode().rstrip("=")
        key = ApiKey(
            id=self._new_id("key"),
            tenant=tenant,
            name=name,
            secret_hash=hash_of(secret),
            scopes=scopes,
            created_at=self._clock(),
            expires_at=expires_at,
        )
        self._keys.add(key)
        return key, secret

    def authenticate(self, secret: str | None) -> Principal:
        """Raises AuthRequired, with one message for a missing, unknown and expired key."""
        key = self._keys.find(hash_of(secret)) if secret else None
        if key is None or (key.expires_at is not None and key.expires_at <= self._clock()):
            raise AuthRequired("a valid API key is required")
        return Principal(tenant=key.tenant, key_id=key.id, scopes=key.scopes)


def hash_of(secret: str) -> str:
    """The stored form of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()

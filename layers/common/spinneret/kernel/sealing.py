"""Secrets at rest (T-05): encrypted for one purpose of one tenant, opened for no other."""

from __future__ import annotations

from typing import Protocol


class Sealer(Protocol):
    """Encrypts small secrets, up to SEALED_MAX_BYTES. Raises DependencyUnavailable.

    Tenant and purpose are bound to the ciphertext as associated data: a row that was copied to
    another tenant, or a field to another one, can't be opened there.
    """

    def seal(self, secret: bytes, *, tenant: str, purpose: str) -> bytes:
        """The ciphertext; another one each time."""
        ...

    def unseal(self, sealed: bytes, *, tenant: str, purpose: str) -> bytes:
        """The secret; raises SecretUnreadable."""
        ...

"""Secrets at rest (T-05): encrypted for one tenant and one purpose only."""

from typing import Protocol


class Sealer(Protocol):
    """Encrypt small secrets, up to SEALED_MAX_BYTES. Raises DependencyUnavailable.

    Tenant and purpose are bound to the ciphertext as associated data. So a secret copied to another
    tenant's row, or to another field, can't be decrypted there.
    """

    def seal(self, secret: bytes, *, tenant: str, purpose: str) -> bytes:
        """Return the ciphertext, which differs each time."""

    def unseal(self, sealed: bytes, *, tenant: str, purpose: str) -> bytes:
        """Return the secret. Raises SecretUnreadable."""

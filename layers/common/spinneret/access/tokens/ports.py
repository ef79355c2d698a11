"""Ports of access tokens."""

from typing import Protocol

from spinneret.access.tokens.models import KeySet


class Signer(Protocol):
    """RSA keys that sign. Methods raise DependencyUnavailable."""

    def create(self) -> tuple[str, str]:
        """Create a key pair; return its name and its public key as PEM."""

    def sign(self, key_id: str, message: bytes) -> bytes:
        """Return the RSASSA-PKCS1-v1_5 signature with SHA-256 of at most 4,096 bytes."""

    def delete(self, key_id: str) -> None:
        """Schedule the deletion of a key pair; do nothing if that is done already."""


class KeySetStore(Protocol):
    """The one set of signing keys of a stage. Methods raise DependencyUnavailable."""

    def read(self) -> KeySet:
        """Return the stored set (consistent read); an empty one of version 0 at first."""

    def replace(self, former: KeySet, keys: KeySet) -> bool:
        """Store the set if `former` is still stored; return whether it is."""

"""Signing keys and the claims of access tokens."""

from dataclasses import dataclass
from datetime import datetime

from spinneret.access.permissions import Role


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    """One key pair; the private key never leaves the signer."""

    kid: str
    key_id: str
    """The signer's name of the key."""
    public_key: str
    """SubjectPublicKeyInfo as PEM."""
    active_from: datetime
    """Time from which it signs, unless a younger key does."""


@dataclass(frozen=True, kw_only=True)
class KeySet:
    """All keys whose tokens are accepted, oldest first."""

    version: int = 0
    keys: tuple[SigningKey, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Claims of an access token about its holder."""

    user_id: str
    tenant: str
    role: Role
    session_id: str
    expires_at: datetime

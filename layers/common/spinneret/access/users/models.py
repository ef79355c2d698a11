"""People and their invitations."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from spinneret.access.permissions import Role


@dataclass(frozen=True, kw_only=True)
class User:
    """One person of a tenant."""

    tenant: str
    id: str
    email: str
    """Normalized address; unique in the tenant."""
    name: str
    role: Role
    is_active: bool = True
    created_at: datetime
    last_login_at: datetime | None = None
    password_hash: str | None = field(default=None, repr=False)
    """Encoded argon2id hash; None until the invitation is accepted."""
    invitation_hash: str | None = field(default=None, repr=False)
    """SHA-256 of the open invitation's secret."""
    invited_until: datetime | None = None
    """End of the open invitation."""
    epoch: int = 0
    """Number of times that all sessions were ended; a session holds only in its own epoch."""
    suspended: str | None = None
    """Reason for which the tenant is suspended; None if it isn't."""

    @property
    def has_password(self) -> bool:
        """Whether the invitation was accepted."""
        return self.password_hash is not None

    def has_credentials_of(self, other: Self) -> bool:
        """Return whether the other state has the same password and the same invitation."""
        own = self.password_hash, self.invitation_hash
        return own == (other.password_hash, other.invitation_hash)

    @property
    def is_active_admin(self) -> bool:
        """Whether the user is an administrator who can sign in."""
        return self.is_active and self.has_password and self.role is Role.ADMIN


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Result of a password check."""

    matches: bool
    new_hash: str | None = field(default=None, repr=False)
    """Hash with today's parameters, if the stored one has others."""

"""Sessions of people."""

from dataclasses import dataclass, field
from datetime import datetime

from spinneret.access.users.models import User


@dataclass(frozen=True, kw_only=True)
class Session:
    """One sign-in and the refresh tokens that follow from it."""

    tenant: str
    user_id: str
    id: str
    epoch: int
    """The user's epoch at sign-in; the session ends with it."""
    tag_key: str = field(default="", repr=False)
    """Key of the tags that show which tokens the session issued; it opens nothing. A session
    without one, of an earlier release, has ended."""
    token_hash: str = field(repr=False)
    """SHA-256 of the refresh token in force."""
    former_hash: str | None = field(default=None, repr=False)
    """SHA-256 of the token before it."""
    rotated_at: datetime | None = None
    created_at: datetime
    expires_at: datetime

    def is_of(self, user: User, now: datetime) -> bool:
        """Return whether the session holds for this state of its user."""
        return user.is_active and self.epoch == user.epoch and now < self.expires_at


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Tokens that a sign-in or a refresh gives a person."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: datetime
    """End of the session, and thus of every refresh token that follows."""


@dataclass(frozen=True, kw_only=True)
class Failures:
    """Failed sign-ins to one account: from one address, and from all within the hour."""

    here: int = 0
    last_at: datetime | None = None
    """Time of the last failure from this address."""
    everywhere: int = 0

"""Ports of the user service."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.access.users.models import User, Verified
from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent


class UserStore(Protocol):
    """People by tenant. Methods raise DependencyUnavailable; reads are consistent."""

    def add(self, user: User, at_most: int) -> None:
        """Store a new user.

        Raises Conflict if the address is taken or the tenant has `at_most` users, and
        TenantSuspended.
        """

    def get(self, tenant: str, user_id: str) -> User | None:
        """Return the user, or None."""

    def find(self, tenant: str, email: str) -> User | None:
        """Return the user with this normalized address, or None."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[User]:
        """Return up to `limit` of the tenant's users with ids after `after`, oldest first."""

    def change(self, user: User, events: Callable[[User], Sequence[DomainEvent]]) -> bool:
        """Store name, role and activity, and end all sessions if role or activity differs.

        `events` returns the events of the change from the former user.

        Return False if the user is missing. Raises Conflict if the tenant would lose its last
        active administrator.
        """

    def remove(self, user: User, event: DomainEvent) -> bool:
        """Delete the user; return False if it was missing. Raises Conflict as `change` does."""

    def set_password(self, user: User, password_hash: str, event: DomainEvent) -> bool:
        """Store a password, end the invitation and all sessions.

        Return False if the stored password or invitation is no longer the given user's. Raises
        TenantSuspended.
        """

    def signed_in(self, user: User, now: datetime, new_hash: str | None) -> None:
        """Store the time of a sign-in and, unless the password changed meanwhile, its new hash."""

    def end_sessions(self, tenant: str, user_id: str) -> None:
        """End all sessions of the user by a new epoch; do nothing for a missing one."""


class PasswordHasher(Protocol):
    """Slow, salted hashes of passwords."""

    def hash(self, password: str) -> str:
        """Return the encoded hash with its parameters."""

    def verify(self, stored: str | None, password: str) -> Verified:
        """Check a password. Without a stored hash return no match after the same time."""

"""Invite, change and remove people; set their passwords (T-03)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from spinneret.access import limits
from spinneret.access.permissions import Role
from spinneret.access.tenants.rules import check_tenant, require_active
from spinneret.access.users import rules
from spinneret.access.users.models import User
from spinneret.access.users.ports import PasswordHasher, UserStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, Forbidden, NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service


@service
class UserService:
    """People of a tenant. A new one gets an invitation, and chooses the password with it."""

    users: UserStore
    hasher: PasswordHasher
    clock: Clock
    new_id: NewId
    random: Callable[[int], bytes]

    def invite(self, tenant: str, email: str, name: str, role: Role) -> tuple[User, str]:
        """Add a user; return it and the invitation, which can't be retrieved again.

        Raises ValidationFailed, and Conflict for a known address or too many users.
        """
        check_tenant(tenant)
        now = self.clock()
        user_id = self.new_id("u")
        invitation, invitation_hash = rules.new_invitation(tenant, user_id, self.random)
        user = User(
            tenant=tenant,
            id=user_id,
            email=rules.normalized_email(email),
            name=name,
            role=role,
            created_at=now,
            invitation_hash=invitation_hash,
            invited_until=now + timedelta(seconds=limits.INVITATION_SECONDS),
        )
        self.users.add(user, limits.USERS_PER_TENANT)
        return user, invitation

    def accept(self, invitation: str, password: str) -> User:
        """Set the first password; return the user.

        Raises AuthRequired for an invalid or used invitation, TenantSuspended and
        ValidationFailed.
        """
        named = rules.invited(invitation)
        user = self.users.get(*named) if named else None
        if user is None or not rules.may_accept(user, invitation, self.clock()):
            raise _not_invited()
        require_active(user.suspended)
        chosen = rules.checked_password(password, user.email)
        hashed = self.hasher.hash(chosen)
        if not self.users.set_password(user, hashed):
            raise _not_invited()
        return replace(user, password_hash=hashed)

    def change_password(self, tenant: str, user_id: str, current: str, new: str) -> User:
        """Replace one's own password, end all sessions, return the user.

        Raises Forbidden if `current` is wrong, and ValidationFailed.
        """
        user = self.get(tenant, user_id)
        given = rules.normalized_password(current)
        if not self.hasher.verify(user.password_hash, given).matches:
            raise Forbidden("the current password is wrong")
        chosen = rules.checked_password(new, user.email)
        if not self.users.set_password(user, self.hasher.hash(chosen)):
            raise Forbidden("the current password was changed meanwhile")
        return user

    def get(self, tenant: str, user_id: str) -> User:
        """Return a user; raise NotFound for an unknown or foreign id."""
        return _known(self.users.get(tenant, user_id))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[User]:
        """See UserStore.page."""
        return self.users.page(tenant, after, limit)

    def replace(self, tenant: str, user_id: str, name: str, role: Role, *, is_active: bool) -> User:
        """Change a user; another role or activity ends all sessions. Raises NotFound, Conflict."""
        user = replace(self.get(tenant, user_id), name=name, role=role, is_active=is_active)
        if not self.users.change(user):
            raise _unknown()
        return user

    def remove(self, tenant: str, user_id: str) -> None:
        """Delete a user and thereby end all sessions. Raises NotFound and Conflict."""
        if not self.users.remove(tenant, user_id):
            raise _unknown()


def _known(user: User | None) -> User:
    if user is None:
        raise _unknown()
    return user


def _unknown() -> NotFound:
    return NotFound("no such user")


def _not_invited() -> AuthRequired:
    return AuthRequired("a valid invitation is required")

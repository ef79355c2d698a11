"""Invite, change and remove people (T-03)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from spinneret.access import limits
from spinneret.access.permissions import ROLE_PERMISSIONS, Permission, Role
from spinneret.access.tenants.rules import check_tenant
from spinneret.access.trail.event_types import DELETED
from spinneret.access.trail.rules import account_event, changes
from spinneret.access.users import rules
from spinneret.access.users.models import User
from spinneret.access.users.ports import UserStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Forbidden, NotFound, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service


@service
class UserService:
    """People of a tenant. A new one gets an invitation, and chooses the password with it."""

    users: UserStore
    clock: Clock
    new_id: NewId
    random: Callable[[int], bytes]

    def invite(
        self,
        tenant: str,
        email: str,
        name: str,
        role: Role,
        permissions: frozenset[Permission],
    ) -> tuple[User, str]:
        """Add a user; return it and the invitation, which can't be retrieved again.

        Raises ValidationFailed, Forbidden for a role with more than the caller's `permissions`, and
        Conflict for a known address or too many users.
        """
        check_tenant(tenant)
        _require_within(role, permissions)
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

    def get(self, tenant: str, user_id: str) -> User:
        """Return a user; raise NotFound for an unknown or foreign id."""
        return existing(self.users.get(tenant, user_id), "user")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[User]:
        """See UserStore.page."""
        return self.users.page(tenant, after, limit)

    def replace(
        self,
        tenant: str,
        user_id: str,
        name: str,
        role: Role,
        *,
        is_active: bool,
        by: str,
        permissions: frozenset[Permission],
    ) -> User:
        """Change a user; another role or activity ends all sessions. `by` is the caller's id.

        Raises NotFound, Conflict, and Forbidden as `invite` does.
        """
        former = self.get(tenant, user_id)
        if role is not former.role or (is_active and not former.is_active):
            _require_within(role, permissions)
        user = replace(former, name=name, role=role, is_active=is_active)
        now = self.clock()
        if not self.users.change(user, lambda former: changes(former, user, by, now)):
            raise _unknown()
        return user

    def remove(self, tenant: str, user_id: str, by: str) -> None:
        """Delete a user and thereby end all sessions. Raises NotFound and Conflict."""
        user = self.get(tenant, user_id)
        if not self.users.remove(user, account_event(user, DELETED, self.clock(), by=by)):
            raise _unknown()


def _require_within(role: Role, permissions: frozenset[Permission]) -> None:
    """Raise Forbidden for a role that has more than these permissions."""
    if not ROLE_PERMISSIONS[role] <= permissions:
        raise Forbidden("a caller gives no role that has more than the caller")


def _unknown() -> NotFound:
    return NotFound("no such user")

"""Set passwords of people, by an invitation or by the present password (T-03)."""

from dataclasses import replace

from spinneret.access.sessions.failing import count_failure
from spinneret.access.sessions.ports import FailureStore
from spinneret.access.sessions.rules import is_locked
from spinneret.access.tenants.rules import require_active
from spinneret.access.trail.event_types import PASSWORD_CHANGED
from spinneret.access.trail.ports import Trail
from spinneret.access.trail.rules import account_event
from spinneret.access.users import rules
from spinneret.access.users.models import User
from spinneret.access.users.ports import PasswordHasher, UserStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, Forbidden, existing
from spinneret.kernel.service import service
from spinneret.outbox.models import DomainEvent


@service
class PasswordService:
    """Passwords of people."""

    users: UserStore
    failures: FailureStore
    trail: Trail
    hasher: PasswordHasher
    clock: Clock

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
        if not self.users.set_password(user, hashed, self._event(user)):
            raise _not_invited()
        return replace(user, password_hash=hashed)

    def change(self, tenant: str, user_id: str, current: str, new: str, address: str) -> User:
        """Replace one's own password, end all sessions, return the user.

        Raises ValidationFailed, and Forbidden if `current` is wrong, which counts as a failed
        sign-in, or if the account waits.
        """
        user = existing(self.users.get(tenant, user_id), "user")
        self._check(user, rules.normalized_password(current), address)
        chosen = rules.checked_password(new, user.email)
        if not self.users.set_password(user, self.hasher.hash(chosen), self._event(user)):
            raise Forbidden("the current password was changed meanwhile")
        return user

    def _check(self, user: User, current: str, address: str) -> None:
        now = self.clock()
        locked = is_locked(self.failures.get(user.tenant, user.email, address, now), now)
        if not locked and self.hasher.verify(user.password_hash, current).matches:
            return
        if not locked:
            account = (user.tenant, user.email)
            count_failure(self.failures, self.trail, user, account, address, now)
        raise Forbidden("the current password is wrong, or the account waits")

    def _event(self, user: User) -> DomainEvent:
        return account_event(user, PASSWORD_CHANGED, self.clock())


def _not_invited() -> AuthRequired:
    return AuthRequired("a valid invitation is required")

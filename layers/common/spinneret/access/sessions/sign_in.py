"""Sign people in by their passwords (T-02)."""

from collections.abc import Callable
from datetime import datetime, timedelta

from spinneret.access import limits
from spinneret.access.keys.ports import RateLimitStore
from spinneret.access.keys.secrets import hash_of
from spinneret.access.permissions import Role
from spinneret.access.sessions import rules
from spinneret.access.sessions.failing import count_failure
from spinneret.access.sessions.models import Session, Tokens
from spinneret.access.sessions.ports import FailureStore, SessionStore
from spinneret.access.tenants.rules import is_tenant, require_active
from spinneret.access.tokens.service import TokenIssuer
from spinneret.access.trail.event_types import SIGNED_IN
from spinneret.access.trail.ports import Trail
from spinneret.access.trail.rules import account_event
from spinneret.access.users.models import User
from spinneret.access.users.ports import PasswordHasher, UserStore
from spinneret.access.users.rules import normalized_email, normalized_password
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, RateLimited, ValidationFailed
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service

_NOBODY = "nobody"  # counts attempts of malformed names; no tenant's row has this key


@service
class SignIn:
    """Begins sessions."""

    users: UserStore
    sessions: SessionStore
    failures: FailureStore
    trail: Trail
    windows: RateLimitStore
    hasher: PasswordHasher
    issuer: TokenIssuer
    clock: Clock
    new_id: NewId
    random: Callable[[int], bytes]

    def sign_in(self, tenant: str, email: str, password: str, address: str) -> Tokens:
        """Begin a session.

        Raises AuthRequired alike for an unknown, inactive or locked account and a wrong password,
        RateLimited over SIGN_INS_PER_MINUTE of an address, TenantSuspended and
        DependencyUnavailable.
        """
        self._count(address)
        now = self.clock()
        user = self._admitted(tenant, email, password, address)
        session_id, tag_key = self.new_id("s"), self.random(32).hex()
        token = rules.refresh_token(user.tenant, user.id, session_id, tag_key, self.random(32))
        session = Session(
            tenant=user.tenant,
            user_id=user.id,
            id=session_id,
            epoch=user.epoch,
            tag_key=tag_key,
            token_hash=hash_of(token),
            created_at=now,
            expires_at=now + timedelta(seconds=limits.SESSION_SECONDS),
        )
        access_token = self.issuer.issue(user, session_id)
        self.sessions.add(session, account_event(user, SIGNED_IN, now, address=address))
        return Tokens(access_token=access_token, refresh_token=token, expires_at=session.expires_at)

    def _admitted(self, tenant: str, email: str, password: str, address: str) -> User:
        """Return the user whose password this is. Raises AuthRequired, each time as late."""
        now = self.clock()
        account = _account(email) if is_tenant(tenant) else None
        scope = tenant if account is not None else _NOBODY
        counted = account or _NOBODY
        locked = rules.is_locked(self.failures.get(scope, counted, address, now), now)
        user = self.users.find(tenant, account) if account is not None else None
        given = normalized_password(password)[: limits.PASSWORD_MAX_CHARS + 1]
        stored = user.password_hash if user is not None else None
        verified = self.hasher.verify(stored, given)
        if locked or user is None or not verified.matches or not user.is_active:
            if not locked:
                count_failure(
                    self.failures,
                    self.trail,
                    user or _stranger(now),
                    (scope, counted),
                    address,
                    now,
                    known=user is not None,
                )
            raise _wrong()
        require_active(user.suspended)
        self.failures.clear(scope, counted, address)
        self.users.signed_in(user, now, verified.new_hash)
        return user

    def _count(self, address: str) -> None:
        status = self.windows.take(
            "", f"ADDRESS#{address[:100]}", limits.SIGN_INS_PER_MINUTE, self.clock()
        )
        if not status.admitted:
            raise RateLimited(
                "too many sign-ins from this address", retry_after=status.reset_seconds
            )


def _account(email: str) -> str | None:
    try:
        return normalized_email(email)
    except ValidationFailed:
        return None


def _stranger(now: datetime) -> User:
    return User(
        tenant="", id=_NOBODY, email="", name="", role=Role.VIEWER, is_active=False, created_at=now
    )


def _wrong() -> AuthRequired:
    return AuthRequired("tenant, e-mail address or password is wrong, or the account waits")

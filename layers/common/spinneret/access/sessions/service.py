"""Sign people in, refresh and end their sessions (T-02)."""

from collections.abc import Callable
from datetime import timedelta

from spinneret.access import limits
from spinneret.access.keys.ports import RateLimitStore
from spinneret.access.keys.secrets import hash_of
from spinneret.access.sessions import rules
from spinneret.access.sessions.models import Session, Tokens
from spinneret.access.sessions.ports import FailureStore, SessionStore, SuccessorSecret
from spinneret.access.tenants.rules import is_tenant, require_active
from spinneret.access.tokens.service import TokenIssuer
from spinneret.access.users.models import User
from spinneret.access.users.ports import PasswordHasher, UserStore
from spinneret.access.users.rules import normalized_email, normalized_password
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, RateLimited, ValidationFailed
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service

_NOBODY = "nobody"  # counts attempts of malformed names; no tenant's row has this key


@service
class SessionService:
    """Sessions of people."""

    users: UserStore
    sessions: SessionStore
    failures: FailureStore
    windows: RateLimitStore
    hasher: PasswordHasher
    issuer: TokenIssuer
    successor: SuccessorSecret
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
        secret = self.random(32)
        session_id = self.new_id("s")
        token = rules.refresh_token(user.tenant, user.id, session_id, secret)
        session = Session(
            tenant=user.tenant,
            user_id=user.id,
            id=session_id,
            epoch=user.epoch,
            token_hash=hash_of(token),
            created_at=now,
            expires_at=now + timedelta(seconds=limits.SESSION_SECONDS),
        )
        access_token = self.issuer.issue(user, session_id)
        self.sessions.add(session)
        return Tokens(access_token=access_token, refresh_token=token)

    def refresh(self, token: str) -> Tokens:
        """Rotate the refresh token and return a new access token.

        A token that was rotated in the last SAME_SUCCESSOR_SECONDS gets the same successor; a later
        use ends the session. Raises AuthRequired and DependencyUnavailable.
        """
        session, user = self._standing(token)
        given, now = hash_of(token), self.clock()
        follower = rules.refresh_token(
            session.tenant, session.user_id, session.id, self.successor.of(token)
        )
        stored: Session | None = session
        if session.token_hash == given:
            stored = self.sessions.rotate(session, hash_of(follower), now)
        if stored is None:
            raise _refused()
        if not rules.is_repeated(stored, given, now):
            self.sessions.remove(stored)  # somebody else has one of its tokens
            raise _refused()
        return Tokens(access_token=self.issuer.issue(user, session.id), refresh_token=follower)

    def sign_out(self, token: str, *, everywhere: bool) -> None:
        """End the session of a refresh token, or all of its user. Raises AuthRequired."""
        session, user = self._standing(token)
        if hash_of(token) not in {session.token_hash, session.former_hash}:
            raise _refused()
        if everywhere:
            self.users.end_sessions(user.tenant, user.id)
        self.sessions.remove(session)

    def _standing(self, token: str) -> tuple[Session, User]:
        """Return the session that a token names, and its user.

        Raises AuthRequired and TenantSuspended.
        """
        named = rules.session_of(token)
        session = self.sessions.get(*named) if named else None
        user = self.users.get(session.tenant, session.user_id) if session else None
        if session is None or user is None or not session.is_of(user, self.clock()):
            raise _refused()
        require_active(user.suspended)
        return session, user

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
                self.failures.add(scope, counted, address, now)
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


def _wrong() -> AuthRequired:
    return AuthRequired("tenant, e-mail address or password is wrong, or the account waits")


def _refused() -> AuthRequired:
    return AuthRequired("a valid refresh token is required")

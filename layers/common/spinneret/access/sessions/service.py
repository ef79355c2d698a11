"""Refresh and end sessions of people (T-02)."""

from typing import NoReturn

from spinneret.access.keys.secrets import hash_of
from spinneret.access.sessions import rules
from spinneret.access.sessions.models import Session, Tokens
from spinneret.access.sessions.ports import SessionStore, SuccessorSecret
from spinneret.access.tenants.rules import require_active
from spinneret.access.tokens.service import TokenIssuer
from spinneret.access.trail.event_types import SESSION_REVOKED, SIGNED_OUT
from spinneret.access.trail.rules import account_event
from spinneret.access.users.models import User
from spinneret.access.users.ports import UserStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired
from spinneret.kernel.service import service


@service
class SessionService:
    """Sessions that began with a sign-in; see `sign_in`."""

    users: UserStore
    sessions: SessionStore
    issuer: TokenIssuer
    successor: SuccessorSecret
    clock: Clock

    def refresh(self, token: str) -> Tokens:
        """Rotate the refresh token and return a new access token.

        A token that was rotated in the last SAME_SUCCESSOR_SECONDS gets the same successor; a later
        use ends the session. That successor isn't rotated in this time: requests with the former
        token may still arrive. Raises AuthRequired and DependencyUnavailable.
        """
        session, user = self._standing(token)
        given, now = hash_of(token), self.clock()
        if session.token_hash == given and rules.is_new(session, now):
            return self._tokens(user, session, token)
        follower = rules.refresh_token(
            session.tenant, session.user_id, session.id, session.tag_key, self.successor.of(token)
        )
        stored: Session | None = session
        if session.token_hash == given:
            stored = self.sessions.rotate(session, hash_of(follower), now)
        if stored is None:
            raise _refused()
        if not rules.is_repeated(stored, given, now):
            self._end_reused(stored, user)
        return self._tokens(user, session, follower)

    def sign_out(self, token: str, *, everywhere: bool) -> None:
        """End the session of a refresh token, or all of its user. Raises AuthRequired.

        A token that was rotated longer ago ends its own session only, as in `refresh`.
        """
        session, user = self._standing(token)
        given = hash_of(token)
        if session.token_hash != given and not rules.is_repeated(session, given, self.clock()):
            self._end_reused(session, user)
        if everywhere:
            self.users.end_sessions(user.tenant, user.id)
        event = account_event(user, SIGNED_OUT, self.clock(), all=everywhere)
        self.sessions.remove(session, event)

    def _standing(self, token: str) -> tuple[Session, User]:
        """Return the session that issued a token, and its user.

        Raises AuthRequired and TenantSuspended.
        """
        named = rules.session_of(token)
        session = self.sessions.get(*named) if named else None
        if session is None or not rules.issued(session, token):
            raise _refused()
        user = self.users.get(session.tenant, session.user_id)
        if user is None or not session.is_of(user, self.clock()):
            raise _refused()
        require_active(user.suspended)
        return session, user

    def _tokens(self, user: User, session: Session, refresh_token: str) -> Tokens:
        return Tokens(
            access_token=self.issuer.issue(user, session.id),
            refresh_token=refresh_token,
            expires_at=session.expires_at,
        )

    def _end_reused(self, session: Session, user: User) -> NoReturn:
        """End a session one of whose former tokens somebody else may have. Raises AuthRequired."""
        self.sessions.remove(session, account_event(user, SESSION_REVOKED, self.clock()))
        raise _refused()


def _refused() -> AuthRequired:
    return AuthRequired("a valid refresh token is required")

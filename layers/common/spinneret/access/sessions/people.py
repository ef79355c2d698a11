"""People as callers of the API, by their access tokens."""

from datetime import datetime

from spinneret.access import limits
from spinneret.access.keys.models import Principal, Scope
from spinneret.access.keys.secrets import credential_refused
from spinneret.access.permissions import ROLE_PERMISSIONS, Role
from spinneret.access.sessions.ports import SessionStore
from spinneret.access.tenants.rules import require_active
from spinneret.access.tokens.service import TokenVerifier
from spinneret.access.users.models import User
from spinneret.access.users.ports import UserStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service

# Scopes that a person may grant to a key.
_SCOPES = {Role.ADMIN: Scope.ADMIN, Role.SELLER: Scope.WRITE, Role.VIEWER: Scope.READ}
_CACHED_MAX = 1000  # sessions of one process


@service
class SignedInPeople:
    """Implements People: a session is read at most once in SESSION_CACHE_SECONDS."""

    users: UserStore
    sessions: SessionStore
    verifier: TokenVerifier
    clock: Clock
    requests_per_minute: int

    def __post_init__(self) -> None:
        self._known = Recent[tuple[str, str, str], User | None](
            limits.SESSION_CACHE_SECONDS, _CACHED_MAX
        )

    def authenticate(self, token: str) -> Principal:
        claims = self.verifier.claims(token)
        session = (claims.tenant, claims.user_id, claims.session_id)
        user = self._known.get(session, self.clock(), lambda: self._user(session))
        if user is None or user.role is not claims.role:
            raise credential_refused()
        return self._principal(user, claims.expires_at, claims.session_id)

    def holder(self, tenant: str, user_id: str, session_id: str | None) -> Principal | None:
        if session_id is not None:
            user = self._user((tenant, user_id, session_id))
        else:
            user = self.users.get(tenant, user_id)
        if user is None or not user.is_active:
            return None
        return self._principal(user, None, session_id)

    def _user(self, session: tuple[str, str, str]) -> User | None:
        """Return the user of a session that holds; None if it has ended."""
        tenant, user_id, _ = session
        user, stored = self.users.get(tenant, user_id), self.sessions.get(*session)
        if user is None or stored is None or not stored.is_of(user, self.clock()):
            return None
        return user

    def _principal(
        self, user: User, expires_at: datetime | None, session_id: str | None
    ) -> Principal:
        require_active(user.suspended)
        return Principal(
            tenant=user.tenant,
            key_id=user.id,
            scopes=frozenset({_SCOPES[user.role]}),
            rate_limit_rpm=self.requests_per_minute,
            permissions=ROLE_PERMISSIONS[user.role],
            expires_at=expires_at,
            role=user.role,
            session_id=session_id,
        )

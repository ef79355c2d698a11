"""Issue and check API keys and tickets; count their holders' requests (T-01, F-06)."""

import base64
import logging
from collections.abc import Callable
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.models import (
    ApiKey,
    Principal,
    RateLimitStatus,
    Scope,
    StoredTicket,
    Ticket,
)
from spinneret.access.keys.ports import KeyStore, People, RateLimitStore
from spinneret.access.keys.secrets import credential_refused, hash_of
from spinneret.access.permissions import ALL, Permission
from spinneret.access.tenants.rules import check_tenant, require_active
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DependencyUnavailable,
    Forbidden,
    RateLimited,
    TenantSuspended,
    ValidationFailed,
    existing,
)
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

KEY_PREFIX: Final = "spn_"  # lets secret scanners recognise a leaked key
TICKET_PREFIX: Final = "spt_"
USER_ID_PREFIX: Final = "u_"  # ids of keys begin with `key_`
_SECRET_BYTES: Final = 32  # 256 random bits: storing a plain SHA-256 is safe
_SHOWN: Final = len(KEY_PREFIX) + 4  # shows 24 of the 256 bits
_FLOOD_SECONDS: Final = 1  # DynamoDB counts its limits by the second


@service
class KeyService:
    """API keys: their secrets are shown once and stored as SHA-256."""

    keys: KeyStore
    windows: RateLimitStore
    clock: Clock
    new_id: NewId
    random: Callable[[int], bytes]
    default_rpm: int = limits.KEY_REQUESTS_PER_MINUTE
    """Requests per minute of a key that is issued without a limit."""
    people: People | None = None
    """Callers with access tokens; None where only keys are accepted."""
    recent: Recent[str, ApiKey] = field(
        default_factory=lambda: Recent(limits.KEY_KNOWN_SECONDS, limits.KEYS_KNOWN_MAX)
    )
    """Keys by the hash of their secret."""

    def issue(
        self,
        tenant: str,
        name: str,
        scopes: frozenset[Scope],
        expires_at: datetime | None = None,
        *,
        rate_limit_rpm: int | None = None,
        permissions: frozenset[Permission] | None = None,
        issuer: Principal | None = None,
    ) -> tuple[ApiKey, str]:
        """Issue a key; return it and its secret, which can't be retrieved again.

        Without an `issuer` the operator issues the key: neither an issuer's scopes nor
        KEYS_PER_TENANT apply, so that a tenant without an admin key can get one. Raises
        ValidationFailed if the tenant name has characters other than lower case letters, digits and
        hyphens, or if the expiry isn't in the future. With an issuer, also raises Forbidden and
        Conflict.
        """
        now = self.clock()
        check_tenant(tenant)
        if issuer is not None and not _may_grant(issuer, scopes, permissions):
            raise Forbidden("a key can't grant more than its issuer has")
        secret = self._secret(KEY_PREFIX)
        key = ApiKey(
            id=self.new_id("key"),
            tenant=tenant,
            name=name,
            secret_hash=hash_of(secret),
            prefix=secret[:_SHOWN],
            scopes=scopes,
            created_at=now,
            expires_at=_in_bounds(expires_at, now),
            rate_limit_rpm=rate_limit_rpm or self.default_rpm,
            permissions=permissions,
        )
        self.keys.add(key, now, None if issuer is None else limits.KEYS_PER_TENANT)
        return key, secret

    def authenticate(self, secret: str | None) -> Principal:
        """Return the caller with this key or access token.

        Raises AuthRequired, with the same message for a missing, unknown, invalid, expired or
        revoked one, and TenantSuspended. A key that another process revoked is refused after
        KEY_KNOWN_SECONDS at the latest.
        """
        if not secret:
            raise credential_refused()
        if self.people is not None and "." in secret:  # no key has a dot
            return self.people.authenticate(secret)
        return self._principal(self._credential(hash_of(secret)))

    def take(self, principal: Principal) -> RateLimitStatus | None:
        """Count a request against its key's limit; return None while the windows are unavailable.

        The limit fails open: an outage of the windows must not stop every request. Requests that
        come too fast to be counted are refused, so that a flood can't lift the limit.
        """
        subject = {"tenant": principal.tenant, "key_id": principal.key_id}
        try:
            return self.windows.take(
                principal.tenant,
                principal.key_id,
                principal.rate_limit_rpm,
                self.clock(),
            )
        except RateLimited as error:
            logger.warning("rate_limit_flooded", extra={**subject, "reason": error.message})
            return RateLimitStatus(
                admitted=False,
                limit=principal.rate_limit_rpm,
                remaining=0,
                reset_seconds=_FLOOD_SECONDS,
            )
        except DependencyUnavailable:
            logger.warning("rate_limit_skipped", extra=subject)
            return None

    def take_message(self, tenant: str, key_id: str) -> RateLimitStatus | None:
        """Count a message of a connection as `take` counts a request; None without a holder."""
        holder = self._valid_holder(tenant, key_id)
        return None if holder is None else self.take(holder)

    def get(self, tenant: str, key_id: str) -> ApiKey:
        """Return a key; raise NotFound for an unknown or foreign id."""
        return existing(self.keys.get(tenant, key_id), "key")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ApiKey]:
        """See KeyStore.page."""
        return self.keys.page(tenant, after, limit)

    def now(self) -> datetime:
        """Return the time that expiry checks use."""
        return self.clock()

    def revoke(self, tenant: str, key_id: str) -> ApiKey:
        """Revoke a key and its tickets; repeating it is no error.

        This process and all tickets refuse it from the next request on, other processes after
        KEY_KNOWN_SECONDS at the latest.

        The last admin key can be revoked too: the operator can issue another. Raises NotFound.
        """
        key = existing(self.keys.revoke(tenant, key_id, self.clock()), "key")
        self.recent.forget(key.secret_hash)
        return key

    def holds(self, caller: Principal) -> bool:
        """Return whether the caller's key, ticket or session is valid now, as its rows show."""
        return self._valid_holder(caller.tenant, caller.key_id, caller.session_id) is not None

    def is_active(self, tenant: str, key_id: str) -> bool:
        """Return whether a key or user is still valid; used for connections opened with it."""
        return self._valid_holder(tenant, key_id) is not None

    def allows(self, tenant: str, key_id: str, scope: Scope, permission: Permission) -> bool:
        """Return whether a key or user is valid and may use `scope` and `permission`.

        Used for connections that were opened with the key or with one of its tickets.
        """
        holder = self._valid_holder(tenant, key_id)
        return holder is not None and holder.may_use(scope, permission)

    def issue_ticket(self, principal: Principal, job_id: str) -> Ticket:
        """Issue a ticket that reads one existing job for TICKET_SECONDS.

        The caller checks that the job exists. If the key may write, its ticket also lets a plug-in
        carry out the job's tasks.
        """
        secret = self._secret(TICKET_PREFIX)
        expires_at = self.clock() + timedelta(seconds=limits.TICKET_SECONDS)
        self.keys.add_ticket(
            StoredTicket(
                secret_hash=hash_of(secret),
                tenant=principal.tenant,
                key_id=principal.key_id,
                session_id=principal.session_id,
                job_id=job_id,
                expires_at=expires_at,
            )
        )
        return Ticket(secret=secret, expires_at=expires_at)

    def redeem(self, secret: str | None) -> Principal:
        """Return a ticket's holder: it may read `job_id`, at the rate limit of the issuing key.

        Raises AuthRequired, also when that key, user or session is no longer valid, and
        TenantSuspended.
        """
        ticket = self.keys.find_ticket(hash_of(secret)) if secret else None
        if ticket is None or ticket.expires_at <= self.clock():
            raise credential_refused()
        holder = self._holder(ticket.tenant, ticket.key_id, ticket.session_id)
        if holder is None:
            raise credential_refused()
        ends = [end for end in (ticket.expires_at, holder.expires_at) if end is not None]
        return replace(
            holder,
            scopes=frozenset({Scope.READ}),
            job_id=ticket.job_id,
            expires_at=min(ends),
        )

    def _credential(self, secret_hash: str) -> ApiKey:
        """Return the key with this hash; an unknown one is looked for each time."""

        def read() -> ApiKey:
            key = self.keys.find(secret_hash)
            if key is None:
                raise credential_refused()
            return key

        return self.recent.get(secret_hash, self.clock(), read)

    def _valid_holder(
        self, tenant: str, key_id: str, session_id: str | None = None
    ) -> Principal | None:
        """Return the caller as `_holder`; None also while its tenant is suspended."""
        try:
            return self._holder(tenant, key_id, session_id)
        except TenantSuspended:
            return None

    def _holder(self, tenant: str, key_id: str, session_id: str | None = None) -> Principal | None:
        """Return the caller with this id; None if it is unknown or no longer valid.

        Raises TenantSuspended.
        """
        if self.people is not None and key_id.startswith(USER_ID_PREFIX):
            return self.people.holder(tenant, key_id, session_id)
        key = self.keys.get(tenant, key_id)
        return self._principal(key) if key is not None and key.is_active(self.clock()) else None

    def _principal(self, key: ApiKey) -> Principal:
        if not key.is_active(self.clock()):
            raise credential_refused()
        require_active(key.suspended)
        return Principal(
            tenant=key.tenant,
            key_id=key.id,
            scopes=key.scopes,
            rate_limit_rpm=key.rate_limit_rpm,
            permissions=ALL if key.permissions is None else key.permissions,
            expires_at=key.expires_at,
        )

    def _secret(self, prefix: str) -> str:
        raw = self.random(_SECRET_BYTES)
        return prefix + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _may_grant(
    issuer: Principal, scopes: frozenset[Scope], permissions: frozenset[Permission] | None
) -> bool:
    granted = ALL if permissions is None else permissions
    return all(issuer.may(scope) for scope in scopes) and granted <= issuer.permissions


def _in_bounds(expires_at: datetime | None, now: datetime) -> datetime | None:
    """Return the expiry in UTC; raise ValidationFailed if it is past or over ten years away."""
    if expires_at is None:
        return None
    if expires_at <= now:
        raise ValidationFailed.of_field("expires_at", "expires_at must be in the future")
    if expires_at > now + timedelta(seconds=limits.KEY_LIFETIME_MAX_SECONDS):
        raise ValidationFailed.of_field(
            "expires_at",
            "expires_at must be within ten years",
            "omit it for a key without expiry",
        )
    return expires_at.astimezone(UTC)

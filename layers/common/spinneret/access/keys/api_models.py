"""Requests and responses of API keys and tickets."""

import re
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from spinneret.access import limits
from spinneret.access.keys.models import ApiKey, Scope, Ticket
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf

_RFC_3339: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)


def _spelled_out(value: Any) -> Any:
    """Reject numbers and bare dates, which pydantic alone would accept."""
    if isinstance(value, str) and _RFC_3339.fullmatch(value):
        return value
    raise ValueError("expected a date and time with its offset (RFC 3339)")


class KeyRequest(BaseModel):
    """Body of `POST /api/v1/api-keys`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=1, max_length=limits.KEY_NAME_MAX_CHARS
        ),
    ]
    """Name for people."""
    scopes: Annotated[
        frozenset[Annotated[Scope, Field(strict=False)]], Field(min_length=1, strict=False)
    ] = frozenset({Scope.READ})
    """Rights of the key; at most the issuer's own."""
    expires_at: (
        Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_spelled_out)] | None
    ) = None
    """End of the key's validity, at most ten years ahead; null for no end."""
    rate_limit_rpm: Annotated[int | None, Field(ge=1, le=bounds.KEY_REQUESTS_PER_MINUTE_MAX)] = None
    """Requests per minute; by default the stage's limit, 60 unless its operator changed it."""
    permissions: (
        Annotated[
            frozenset[Annotated[Permission, Field(strict=False)]],
            Field(min_length=1, strict=False),
        ]
        | None
    ) = None
    """The only permissions that the key has within its scopes; by default all."""


class KeyView(BaseModel):
    """A key without secret and hash, as shown to the tenant's administrators."""

    key_id: str
    """Id of the key; it isn't secret."""
    name: str
    """Name for people."""
    prefix: str
    """The secret's first characters."""
    scopes: list[Scope]
    """Rights of the key: `read`, `write`, `admin`."""
    rate_limit_rpm: int
    """Requests per minute."""
    is_active: bool
    """False once the key is revoked or expired."""
    created_at: str
    expires_at: str | None
    """End of the key's validity (RFC 3339, UTC); null without an end."""
    permissions: list[Permission] | None
    """The only permissions of a narrowed key; null for all within its scopes."""
    revoked_at: str | None
    """Time of the revocation (RFC 3339, UTC); null while the key is valid."""


class IssuedKey(KeyView):
    """A new key with its secret, which no later response contains."""

    secret: str
    """The key itself; shown only once."""


class KeyList(ListOf[KeyView]):
    """One page of keys, newest first. Expired and revoked keys stay listed for 30 days."""


class TicketView(BaseModel):
    """A ticket for the stream of one job."""

    ticket: str
    """Ticket for the parameter `ticket`."""
    expires_at: str
    """End of the ticket's validity (RFC 3339, UTC)."""


def key_view(key: ApiKey, now: datetime) -> KeyView:
    """Return the view of a key. `now` decides whether it has expired."""
    return KeyView(
        key_id=key.id,
        name=key.name,
        prefix=key.prefix,
        scopes=[scope for scope in Scope if scope in key.scopes],
        rate_limit_rpm=key.rate_limit_rpm,
        is_active=key.is_active(now),
        created_at=to_iso(key.created_at),
        expires_at=to_iso(key.expires_at) if key.expires_at else None,
        permissions=None if key.permissions is None else sorted(key.permissions),
        revoked_at=to_iso(key.revoked_at) if key.revoked_at else None,
    )


def issued_key(key: ApiKey, secret: str) -> IssuedKey:
    """Return the response with a new key."""
    return IssuedKey(**key_view(key, key.created_at).model_dump(), secret=secret)


def key_list(page: Page[ApiKey], now: datetime) -> KeyList:
    """Return the view of a page; see `key_view`."""
    return KeyList.page(page, lambda key: key_view(key, now))


def ticket_view(ticket: Ticket) -> TicketView:
    """Return the view of a ticket."""
    return TicketView(ticket=ticket.secret, expires_at=to_iso(ticket.expires_at))

"""Requests and responses of sign-in."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from spinneret.access import limits
from spinneret.access.keys.models import Principal, Scope
from spinneret.access.permissions import Permission, Role
from spinneret.access.sessions.models import Tokens
from spinneret.access.tokens.models import SigningKey
from spinneret.access.tokens.service import jwk
from spinneret.access.users.api_models import GivenPassword

# As long as an access token, which thus gets the same answer as any other wrong token.
_RefreshToken = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.ACCESS_TOKEN_MAX_CHARS)
]


class LoginRequest(BaseModel):
    """Body of `POST /api/v1/auth/login`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    tenant: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    """Name of the tenant."""
    email: Annotated[str, StringConstraints(min_length=1, max_length=limits.EMAIL_MAX_CHARS)]
    """E-mail address of the person."""
    password: GivenPassword
    """The person's password."""
    cookie: bool = False
    """Whether the refresh token comes as a cookie, for browsers."""


class RefreshRequest(BaseModel):
    """Body of `POST /api/v1/auth/refresh`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    refresh_token: _RefreshToken | None = None
    """The latest refresh token of the session; by default that of the cookie."""
    cookie: bool = False
    """Whether the next refresh token comes as a cookie; without `refresh_token` it does."""


class LogoutRequest(BaseModel):
    """Body of `POST /api/v1/auth/logout`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    refresh_token: _RefreshToken | None = None
    """The latest refresh token of the session; by default that of the cookie."""
    all: bool = False
    """Whether all sessions of the user end."""


class SignedOut(BaseModel):
    """Sessions that ended."""

    all: bool
    """Whether all sessions of the user ended, or only that of the token."""


class TokenView(BaseModel):
    """Tokens of a session."""

    access_token: str
    """JWT for the header `Authorization: Bearer …`."""
    refresh_token: str | None
    """Opaque token for the next access token; a use replaces it, after ten seconds at the earliest.
    Null if it is in the cookie.
    """
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - a scheme
    """Scheme of the `Authorization` header."""
    expires_in: int = limits.ACCESS_TOKEN_SECONDS
    """Seconds until the access token ends."""


class CallerView(BaseModel):
    """The caller: a person, or an API key."""

    kind: Literal["user", "key"]
    """Whether a person or a key calls."""
    id: str
    """Id of the user or of the key."""
    tenant: str
    """Name of the tenant."""
    role: Role | None
    """Role of a person; null for a key."""
    scopes: list[Scope]
    """Scopes of a key; empty for a person."""
    permissions: list[Permission]
    """Permissions of the caller."""


class PublicKeyView(BaseModel):
    """Public key of the signatures of access tokens (RFC 7517)."""

    kty: str
    """Key type: `RSA`."""
    use: str
    """Use: `sig`, signatures."""
    alg: str
    """Algorithm: `RS256`."""
    kid: str
    """Id of the key, which tokens name."""
    n: str
    """Modulus, in base64url."""
    e: str
    """Exponent, in base64url."""


class KeySetView(BaseModel):
    """All keys whose access tokens are accepted."""

    keys: list[PublicKeyView]
    """Public keys, oldest first."""


def token_view(tokens: Tokens, *, cookie: bool) -> TokenView:
    """Return the response of a sign-in or refresh; a cookie has the refresh token instead."""
    return TokenView(
        access_token=tokens.access_token, refresh_token=None if cookie else tokens.refresh_token
    )


def caller_view(caller: Principal) -> CallerView:
    """Return the view of the caller."""
    scopes = [] if caller.role is not None else [each for each in Scope if each in caller.scopes]
    return CallerView(
        kind="key" if caller.role is None else "user",
        id=caller.key_id,
        tenant=caller.tenant,
        role=caller.role,
        scopes=scopes,
        permissions=sorted(caller.permissions),
    )


def key_set_view(keys: tuple[SigningKey, ...]) -> KeySetView:
    """Return the public keys."""
    return KeySetView(keys=[PublicKeyView(**jwk(key)) for key in keys])

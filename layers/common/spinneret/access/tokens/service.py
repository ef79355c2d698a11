"""Issue and verify access tokens: JWT signed by RS256 (RFC 9068)."""

import base64
import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from spinneret.access import limits
from spinneret.access.keys.secrets import credential_refused
from spinneret.access.permissions import Role
from spinneret.access.tokens import rules
from spinneret.access.tokens.models import Claims, KeySet, SigningKey
from spinneret.access.tokens.ports import KeySetStore, Signer
from spinneret.access.users.models import User
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_ALGORITHM: Final = "RS256"
_TYPE: Final = "at+jwt"  # RFC 9068, section 2.1
_HEADER: Final = frozenset({"alg", "kid", "typ"})
_REQUIRED: Final = ("iss", "aud", "sub", "tenant", "role", "sid", "jti", "iat", "exp")
_REREAD: Final = timedelta(seconds=1)  # bounds the reads that a flood of unknown keys causes


@service
class TokenIssuer:
    """Signs access tokens."""

    keys: KeySetStore
    signer: Signer
    issuer: str
    audience: str
    clock: Clock
    random: Callable[[int], bytes]

    def issue(self, user: User, session_id: str) -> str:
        """Return a token for ACCESS_TOKEN_SECONDS. Raises DependencyUnavailable without a key."""
        now = self.clock()
        key = rules.signing_key(self.keys.read(), now)
        if key is None:
            raise DependencyUnavailable(
                "kms", "the stage gets its first signing key within five minutes"
            )
        header = {"alg": _ALGORITHM, "kid": key.kid, "typ": _TYPE}
        issued = int(now.timestamp())
        claims = {
            "iss": self.issuer,
            "aud": self.audience,
            "sub": user.id,
            "tenant": user.tenant,
            "role": str(user.role),
            "sid": session_id,
            "jti": self.random(16).hex(),
            "iat": issued,
            "exp": issued + limits.ACCESS_TOKEN_SECONDS,
        }
        signed = f"{_encoded(_json(header))}.{_encoded(_json(claims))}"
        return f"{signed}.{_encoded(self.signer.sign(key.key_id, signed.encode()))}"


@service
class TokenVerifier:
    """Verifies access tokens by the published keys, without a call of the signer."""

    keys: KeySetStore
    issuer: str
    audience: str
    clock: Clock
    _cached: KeySet | None = None
    _read_at: datetime = datetime.min.replace(tzinfo=UTC)

    def claims(self, token: str) -> Claims:
        """Return a valid token's claims. Raises AuthRequired and DependencyUnavailable."""
        # Imported here, because requests with keys don't need it.
        import jwt  # noqa: PLC0415 - see above

        if len(token) > limits.ACCESS_TOKEN_MAX_CHARS:
            raise credential_refused()
        try:
            header = jwt.get_unverified_header(token)
            if set(header) != _HEADER or header["typ"] != _TYPE:
                raise credential_refused()
            key = self._key(header["kid"])
            if key is None:
                raise credential_refused()
            found = jwt.decode(
                token,
                key.public_key,
                algorithms=[_ALGORITHM],
                issuer=self.issuer,
                audience=self.audience,
                options={"require": list(_REQUIRED), "verify_exp": False, "verify_iat": False},
            )
            return self._claims(found)
        except (jwt.InvalidTokenError, ValueError, TypeError, KeyError) as error:
            raise credential_refused() from error

    def published(self) -> tuple[SigningKey, ...]:
        """Return all keys whose tokens are accepted."""
        return self._keys().keys

    def _claims(self, found: Mapping[str, Any]) -> Claims:
        """Return the claims; check times by this service's clock. Raises ValueError."""
        issued, expires = found["iat"], found["exp"]
        now = self.clock().timestamp()
        leeway = limits.ACCESS_TOKEN_LEEWAY_SECONDS
        if type(issued) is not int or type(expires) is not int:
            raise ValueError("times are whole numbers")
        if not issued - leeway <= now < expires + leeway or found.get("nbf", 0) > now + leeway:
            raise ValueError("the token isn't valid now")
        if not isinstance(found["aud"], str):
            raise ValueError("a token has one audience")
        return Claims(
            user_id=str(found["sub"]),
            tenant=str(found["tenant"]),
            role=Role(found["role"]),
            session_id=str(found["sid"]),
            expires_at=datetime.fromtimestamp(expires, UTC),
        )

    def _key(self, kid: object) -> SigningKey | None:
        for keys in (self._keys, self._reread):
            found = next((key for key in keys().keys if key.kid == kid), None)
            if found is not None:
                return found
        return None

    def _keys(self) -> KeySet:
        """Return the set, at most KEY_SET_CACHE_SECONDS old; an older one during an outage.

        An empty set is read again each time: the stage's first key follows soon.
        """
        age = self.clock() - self._read_at
        is_old = age >= timedelta(seconds=limits.KEY_SET_CACHE_SECONDS)
        if self._cached is None or not self._cached.keys or is_old:
            try:
                self._cached, self._read_at = self.keys.read(), self.clock()
            except DependencyUnavailable:
                if self._cached is None:
                    raise
                logger.warning("key_set_read_failed")
        return self._cached

    def _reread(self) -> KeySet:
        """Return the set as stored, because a token names an unknown key."""
        if self.clock() - self._read_at >= _REREAD:
            self._cached, self._read_at = self.keys.read(), self.clock()
        return self._keys()


def jwk(key: SigningKey) -> dict[str, str]:
    """Return the public key as a JSON Web Key (RFC 7517)."""
    from cryptography.hazmat.primitives.asymmetric.rsa import (  # noqa: PLC0415 - as above
        RSAPublicKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        load_pem_public_key,
    )

    public = load_pem_public_key(key.public_key.encode())
    if not isinstance(public, RSAPublicKey):
        raise TypeError("signing keys are RSA keys")
    numbers = public.public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": _ALGORITHM,
        "kid": key.kid,
        "n": _unsigned(numbers.n),
        "e": _unsigned(numbers.e),
    }


def _unsigned(number: int) -> str:
    return _encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")

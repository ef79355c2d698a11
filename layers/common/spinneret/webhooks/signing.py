"""Signatures of deliveries by Standard Webhooks 1.0.0, for the sender and for the receiver.

Nothing here needs AWS or a third-party package: a receiver can use it as it is.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Final

from spinneret.kernel.errors import PermanentError, ValidationFailed

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 (marks a secret, is none)
SECRET_MIN_BYTES: Final = 24  # Standard Webhooks 1.0.0, "Signature scheme"
SECRET_MAX_BYTES: Final = 64  # the same
NEW_SECRET_BYTES: Final = 32  # as long as the hash: RFC 2104, section 3
TOLERANCE: Final = timedelta(minutes=5)  # as the published verifiers have it
SIGNATURES_READ: Final = 64  # a few secrets in rotation; more is somebody wasting our time
ID_MAX_CHARS: Final = 256  # receivers keep ids as keys

_VERSION: Final = "v1"  # HMAC-SHA256; `v1a` is ed25519
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
# Visible ASCII but the full stop, which would move the boundary to the next signed field.
_ID: Final = re.compile(rf"[!-\-/-~]{{1,{ID_MAX_CHARS}}}")
_TIMESTAMP: Final = re.compile(r"0|[1-9][0-9]{0,11}")  # int() would take blanks, signs, `_`, ٣


class Refusal(StrEnum):
    """Why a delivery isn't believed."""

    MISSING_HEADER = "missing_header"
    REPEATED_HEADER = "repeated_header"
    MALFORMED_HEADER = "malformed_header"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    NO_MATCHING_SIGNATURE = "no_matching_signature"
    # The receiver's own mistakes:
    NO_SECRET = "no_secret"  # noqa: S105 (a reason, no secret)
    MALFORMED_SECRET = "malformed_secret"  # noqa: S105 (a reason, no secret)
    BODY_NOT_BYTES = "body_not_bytes"
    CLOCK_WITHOUT_ZONE = "clock_without_zone"


class VerificationFailed(PermanentError):
    """The delivery must not be acted upon; holds the reason and nothing of what was sent."""

    code: ClassVar[str] = "WEBHOOK_UNVERIFIED"
    status: ClassVar[int] = 401

    def __init__(self, reason: Refusal) -> None:
        super().__init__(f"webhook refused: {reason}", details={"reason": str(reason)})
        self.reason = reason


def sign(
    body: bytes,
    *,
    id: str,  # noqa: A002 (the name that the specification gives it)
    timestamp: datetime,
    secrets: Sequence[str],
) -> dict[str, str]:
    """All signature headers of one attempt; `body` is exactly what is sent.

    `timestamp` is the moment of the attempt, not of the event. `secrets` begin with the newest;
    the two `X-` headers know only that one, and their signature covers the body alone, keyed with
    the secret's text: their receivers know nothing of Standard Webhooks.
    Raises ValidationFailed.
    """
    if not _ID.fullmatch(id):
        raise _invalid("id", f"an id has 1 to {ID_MAX_CHARS} visible ASCII characters and no dot")
    if timestamp.utcoffset() is None or timestamp < _EPOCH:
        raise _invalid("timestamp", "a timestamp has a time zone and isn't before 1970")
    if not secrets:
        raise _invalid("secrets", "there is no secret to sign with")
    keys = [signing_key(secret) for secret in secrets]
    moment = timestamp.astimezone(UTC)
    seconds = str((moment - _EPOCH) // _SECOND)
    content = _signed_content(id, seconds, body)
    return {
        ID_HEADER: id,
        TIMESTAMP_HEADER: seconds,
        SIGNATURE_HEADER: " ".join(f"{_VERSION},{_signature(key, content)}" for key in keys),
        "X-Webhook-Signature": f"sha256={hmac.digest(secrets[0].encode(), body, 'sha256').hex()}",
        "X-Webhook-Timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
    """Answer the id of a genuine delivery; act on each id once, for retries repeat it.

    `body` is what came over the wire, never a JSON value that was written out again. One matching
    signature suffices. Raises VerificationFailed, whatever headers, body and secrets hold.
    """
    if not isinstance(body, bytes):
        raise VerificationFailed(Refusal.BODY_NOT_BYTES)
    keys = _receivers_keys(secrets)
    message_id = _read(headers, ID_HEADER, _ID)
    seconds = _read(headers, TIMESTAMP_HEADER, _TIMESTAMP)
    given = _read(headers, SIGNATURE_HEADER)
    _check_age(int(seconds), now)
    content = _signed_content(message_id, seconds, body)
    if not _is_among(given, [_signature(key, content).encode() for key in keys]):
        raise VerificationFailed(Refusal.NO_MATCHING_SIGNATURE)
    return message_id


def new_secret(random: Callable[[int], bytes]) -> str:
    """A fresh secret; `random` answers so many unpredictable bytes."""
    return SECRET_PREFIX + base64.b64encode(random(NEW_SECRET_BYTES)).decode()


def signing_key(secret: str) -> bytes:
    """The key that a secret stands for. Raises ValidationFailed for anything but the one form."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    except ValueError:  # not ASCII, or binascii.Error
        key = b""
    # Decoding forgives much, from blanks to bits that aren't used: only one spelling is right.
    canonical = SECRET_PREFIX + base64.b64encode(key).decode() == secret
    if not canonical or not SECRET_MIN_BYTES <= len(key) <= SECRET_MAX_BYTES:
        raise _invalid(
            "secrets",
            f"a secret is {SECRET_PREFIX} and the base64 form of {SECRET_MIN_BYTES} "
            f"to {SECRET_MAX_BYTES} bytes",
        )
    return key


def _receivers_keys(secrets: Sequence[str]) -> list[bytes]:
    """One bad secret is a fault even if another would do: better seen now than at its turn."""
    if not secrets:
        raise VerificationFailed(Refusal.NO_SECRET)
    if not all(isinstance(secret, str) for secret in secrets):
        raise VerificationFailed(Refusal.MALFORMED_SECRET)
    try:
        return [signing_key(secret) for secret in secrets]
    except ValidationFailed:
        raise VerificationFailed(Refusal.MALFORMED_SECRET) from None


def _read(headers: Mapping[str, str], name: str, form: re.Pattern[str] | None = None) -> str:
    """A header's one value. Of two, another reader might take the other one, so both are refused.

    Names that aren't ASCII are passed over: `K` (Kelvin) would become `k`.
    """
    values = [
        value
        for key, value in headers.items()
        if isinstance(key, str) and key.isascii() and key.lower() == name
    ]
    match values:
        case []:
            raise VerificationFailed(Refusal.MISSING_HEADER)
        case [str(value)] if form is None or form.fullmatch(value):
            return value
        case [_]:
            raise VerificationFailed(Refusal.MALFORMED_HEADER)
        case _:
            raise VerificationFailed(Refusal.REPEATED_HEADER)


def _check_age(seconds: int, now: datetime) -> None:
    if now.utcoffset() is None:
        raise VerificationFailed(Refusal.CLOCK_WITHOUT_ZONE)
    age = (now - _EPOCH) - seconds * _SECOND  # whole numbers: no moment is rounded into tolerance
    if age > TOLERANCE:
        raise VerificationFailed(Refusal.TOO_OLD)
    if age < -TOLERANCE:
        raise VerificationFailed(Refusal.TOO_NEW)


def _is_among(given: str, expected: Sequence[bytes]) -> bool:
    """Whether one of the given signatures is one of the expected, in constant time each.

    The base64 forms are compared, so nothing is decoded and each signature has one spelling.
    """
    found = False
    for part in given.split(" ", SIGNATURES_READ)[:SIGNATURES_READ]:
        version, _, signature = part.partition(",")
        if version == _VERSION:
            candidate = signature.encode("utf-8", "surrogatepass")
            for each in expected:
                found |= hmac.compare_digest(candidate, each)
    return found


def _signed_content(message_id: str, seconds: str, body: bytes) -> bytes:
    return f"{message_id}.{seconds}.".encode() + body


def _signature(key: bytes, content: bytes) -> str:
    return base64.b64encode(hmac.digest(key, content, "sha256")).decode()


def _invalid(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(message, details={"fields": [{"field": field}]})

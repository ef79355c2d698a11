"""Signatures of deliveries by Standard Webhooks 1.0.0, for the sender and for the receiver.

This module needs neither AWS nor third-party packages, so receivers can copy it unchanged.
"""

import base64
import hmac
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, ClassVar, Final

from spinneret.kernel.errors import PermanentError, ValidationFailed

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 (marks a secret, is none)
SECRET_MIN_BYTES: Final = 24  # Standard Webhooks 1.0.0, "Signature scheme"
SECRET_MAX_BYTES: Final = 64  # the same
NEW_SECRET_BYTES: Final = 32  # as long as the hash: RFC 2104, section 3
TOLERANCE: Final = timedelta(minutes=5)  # as in the published verifiers
SIGNATURES_READ: Final = 64  # for secrets in rotation; more would waste the receiver's time
ITEMS_READ: Final = 1000  # headers or secrets: servers accept fewer, an iterator may be endless
ID_MAX_CHARS: Final = 256  # receivers store ids as keys

_VERSION: Final = "v1"  # HMAC-SHA256; `v1a` is ed25519
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
# Visible ASCII except the full stop, which would move the boundary to the next signed field.
_ID: Final = re.compile(rf"[!-\-/-~]{{1,{ID_MAX_CHARS}}}")
_TIMESTAMP: Final = re.compile(r"0|[1-9][0-9]{0,11}")  # int() would accept blanks, signs, `_`, ٣


Headers = (
    Mapping[str, str]
    | Mapping[bytes, bytes]
    | Iterable[tuple[str, str]]
    | Iterable[tuple[bytes, bytes]]
)
"""Headers as receivers get them: pairs of text in WSGI and of bytes in ASGI, or a mapping of
either.
"""


class Refusal(StrEnum):
    """Reason why a delivery fails verification."""

    MISSING_HEADER = "missing_header"
    REPEATED_HEADER = "repeated_header"
    MALFORMED_HEADER = "malformed_header"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    NO_MATCHING_SIGNATURE = "no_matching_signature"
    # Mistakes of the receiver itself:
    NO_SECRET = "no_secret"  # noqa: S105 (a reason, no secret)
    SECRETS_NOT_A_LIST = "secrets_not_a_list"
    MALFORMED_SECRET = "malformed_secret"  # noqa: S105 (a reason, no secret)
    BODY_NOT_BYTES = "body_not_bytes"
    HEADERS_NOT_PAIRS = "headers_not_pairs"
    CLOCK_NOT_A_DATETIME = "clock_not_a_datetime"
    CLOCK_WITHOUT_ZONE = "clock_without_zone"
    FAULTY_ARGUMENT = "faulty_argument"


class VerificationFailed(PermanentError):
    """Raised for a delivery that must not be acted upon; contains only the reason."""

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
    secrets: Iterable[str],
) -> dict[str, str]:
    """Return all signature headers of one attempt; `body` is exactly what is sent.

    `timestamp` is the time of the attempt, not of the event. `secrets` start with the newest. The
    two `X-` headers use only that one, and their signature covers the body alone, keyed with the
    secret's text: their receivers don't support Standard Webhooks. Raises ValidationFailed.
    """
    if not isinstance(body, bytes):
        raise ValidationFailed.of_field("body", "a body must be bytes")
    if not isinstance(id, str) or not _ID.fullmatch(id):
        message = f"an id must have 1 to {ID_MAX_CHARS} visible ASCII characters, no dot"
        raise ValidationFailed.of_field("id", message)
    moment = _in_utc(timestamp)
    given = _listed(secrets)
    if not given:
        raise ValidationFailed.of_field(
            "secrets", "secrets must be a list with at least one secret"
        )
    keys = [signing_key(secret) for secret in given]
    seconds = str((moment - _EPOCH) // _SECOND)
    content = _signed_content(id, seconds, body)
    return {
        ID_HEADER: id,
        TIMESTAMP_HEADER: seconds,
        SIGNATURE_HEADER: " ".join(f"{_VERSION},{_signature(key, content)}" for key in keys),
        "X-Webhook-Signature": f"sha256={hmac.digest(given[0].encode(), body, 'sha256').hex()}",
        "X-Webhook-Timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def verify(
    headers: Headers,
    body: bytes,
    secrets: Iterable[str],
    now: datetime,
) -> str:
    """Return the id of a genuine delivery; act on each id once, because retries repeat it.

    `body` is the body as received, never JSON that was parsed and written again. `secrets` may lack
    their prefix and have any length, since their sender chose them. One matching signature
    suffices. Raises VerificationFailed and no other exception, for any arguments.
    """
    try:
        return _verified(headers, body, secrets, now)
    except VerificationFailed:
        raise
    except Exception:  # noqa: BLE001 (foreign code of an odd object; nothing of it is shown)
        raise VerificationFailed(Refusal.FAULTY_ARGUMENT) from None


def _verified(headers: object, body: bytes, secrets: object, now: datetime) -> str:
    if not isinstance(body, bytes):
        raise VerificationFailed(Refusal.BODY_NOT_BYTES)
    if not isinstance(now, datetime):
        raise VerificationFailed(Refusal.CLOCK_NOT_A_DATETIME)
    keys = _receivers_keys(secrets)
    fields = _fields(headers)
    message_id = _read(fields, ID_HEADER, _ID)
    seconds = _read(fields, TIMESTAMP_HEADER, _TIMESTAMP)
    given = _read(fields, SIGNATURE_HEADER)
    _check_age(int(seconds), now)
    content = _signed_content(message_id, seconds, body)
    if not _is_among(given, [_signature(key, content).encode() for key in keys]):
        raise VerificationFailed(Refusal.NO_MATCHING_SIGNATURE)
    return message_id


def new_secret(random: Callable[[int], bytes]) -> str:
    """Return a new secret; `random` returns the given number of unpredictable bytes."""
    return SECRET_PREFIX + base64.b64encode(random(NEW_SECRET_BYTES)).decode()


def signing_key(secret: str) -> bytes:
    """Return the key of a secret, whose prefix may be missing. Raises ValidationFailed."""
    key = _key(secret)
    if key is None or not SECRET_MIN_BYTES <= len(key) <= SECRET_MAX_BYTES:
        raise ValidationFailed.of_field(
            "secrets",
            f"a secret must be the base64 form of {SECRET_MIN_BYTES} to {SECRET_MAX_BYTES} bytes, "
            f"with or without {SECRET_PREFIX} before it",
        )
    return key


def _key(secret: object) -> bytes | None:
    """Decode a secret; return None if it is malformed or empty.

    The prefix is for people: the published libraries treat a secret without it as the same one.
    """
    if not isinstance(secret, str):
        return None
    text = secret.removeprefix(SECRET_PREFIX)
    try:
        key = base64.b64decode(text)
    except ValueError:  # not ASCII, or binascii.Error
        return None
    # Decoding tolerates blanks and unused bits, but only one spelling is valid.
    return key if key and base64.b64encode(key).decode() == text else None


def _receivers_keys(secrets: object) -> list[bytes]:
    """Return the keys. One malformed secret is an error even if another is valid: it would fail
    later.
    """
    if not secrets:
        raise VerificationFailed(Refusal.NO_SECRET)
    given = _listed(secrets)
    if given is None:
        raise VerificationFailed(Refusal.SECRETS_NOT_A_LIST)
    if not given:
        raise VerificationFailed(Refusal.NO_SECRET)
    keys = [key for key in map(_key, given) if key is not None]
    if len(keys) < len(given):
        raise VerificationFailed(Refusal.MALFORMED_SECRET)
    return keys


def _listed(given: object) -> list[Any] | None:
    """Return a copy, since an iterator can be read only once; None if it is no list or endless."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return None
    copy = list(islice(given, ITEMS_READ + 1))
    return copy if len(copy) <= ITEMS_READ else None


def _fields(headers: object) -> list[tuple[object, object]]:
    """Return names and values, with bytes converted to text."""
    items = getattr(headers, "items", None)  # not every framework's headers are a Mapping
    pairs = _listed(items() if callable(items) else headers)
    if pairs is None:
        raise VerificationFailed(Refusal.HEADERS_NOT_PAIRS)
    fields = []
    for pair in pairs:
        match pair:
            case [name, value]:
                fields.append((_text(name), _text(value)))
            case _:
                raise VerificationFailed(Refusal.HEADERS_NOT_PAIRS)
    return fields


def _text(part: object) -> object:
    """Decode bytes as most servers do, by ISO 8859-1 (RFC 9110, section 5.5)."""
    return part.decode("latin-1") if isinstance(part, bytes) else part


def _read(
    fields: Iterable[tuple[object, object]], name: str, form: re.Pattern[str] | None = None
) -> str:
    """Return a header's only value. Two are refused, because another reader might use the other
    one.

    Names that aren't ASCII are ignored: `K` (Kelvin) would become `k`.
    """
    values = [
        value
        for key, value in fields
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


def _in_utc(timestamp: datetime) -> datetime:
    """Return the time in UTC. Raises ValidationFailed."""
    if isinstance(timestamp, datetime) and timestamp.utcoffset() is not None:
        with suppress(OverflowError):  # beyond the year 9999
            if (moment := timestamp.astimezone(UTC)) >= _EPOCH:
                return moment
    raise ValidationFailed.of_field(
        "timestamp", "a timestamp must have a time zone and lie between 1970 and 9999"
    )


def _check_age(seconds: int, now: datetime) -> None:
    if now.utcoffset() is None:
        raise VerificationFailed(Refusal.CLOCK_WITHOUT_ZONE)
    age = (now - _EPOCH) - seconds * _SECOND  # integers, so that no time is rounded into tolerance
    # This form also refuses a clock that returns no valid time.
    if not -TOLERANCE <= age <= TOLERANCE:
        raise VerificationFailed(Refusal.TOO_OLD if age > TOLERANCE else Refusal.TOO_NEW)


def _is_among(given: str, expected: Sequence[bytes]) -> bool:
    """Return whether a given signature is among the expected ones, each compared in constant time.

    The base64 forms are compared, so that no decoding is needed and each signature has one
    spelling.
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

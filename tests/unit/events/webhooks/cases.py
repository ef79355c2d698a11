"""Tables of tests/cases/webhooks.json, and signatures computed without the code under test."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from spinneret.events.webhooks.signing import VerificationFailed, sign, verify
from tests.fakes.time import START
from tests.rows import each_row

_TABLES: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[3] / "cases" / "webhooks.json").read_text("utf-8")
)
SECRETS: dict[str, str] = _TABLES["secrets"]
FIRST, SECOND = SECRETS["first"], SECRETS["second"]
NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


def table(name: str) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Return a decorator that runs a check on every case of a table in one test."""
    return each_row((case["name"], case) for case in _TABLES[name])


def moment(text: str) -> datetime:
    """Parse a time in the format of the tables."""
    return datetime.fromisoformat(text)


def plain_signature(secret: str, content: bytes) -> bytes:
    """Compute HMAC-SHA256 (RFC 2104) from the hash function alone."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    key = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + content).digest()
    signature = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()
    assert signature == hmac.new(key, content, "sha256").digest()
    return signature


def signed(body: bytes = b"{}", secrets: tuple[str, ...] = (FIRST,)) -> dict[str, Any]:
    """Return the headers of a delivery at START."""
    return {**sign(body, id="msg_1", timestamp=START, secrets=secrets)}


def reason_of(headers: Any, body: Any = b"{}", secrets: Any = (FIRST,), now: Any = START) -> str:
    """Return the reason with which `verify` rejects the arguments."""
    with pytest.raises(VerificationFailed) as refusal:
        verify(headers, body, secrets, now)
    return refusal.value.reason

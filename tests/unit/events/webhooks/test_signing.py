"""Headers of a delivery."""

import base64
import hashlib
import hmac
import itertools
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from spinneret.events.webhooks.signing import new_secret, sign, signing_key, verify
from spinneret.kernel.errors import ValidationFailed
from tests.fakes.time import START
from tests.unit.events.webhooks.cases import FIRST, SECOND, SECRETS, moment, plain_signature, table


@table("signing")
def test_a_delivery_carries_exactly_these_headers(case: dict[str, Any]) -> None:
    body = case["body"].encode() if "body" in case else base64.b64decode(case["body_base64"])
    headers = sign(
        body,
        id=case["id"],
        timestamp=moment(case["at"]),
        secrets=[SECRETS[name] for name in case["secrets"]],
    )
    assert headers == case["headers"]


@table("signing")
def test_what_was_signed_is_genuine_to_every_holder_of_one_secret(case: dict[str, Any]) -> None:
    body = case["body"].encode() if "body" in case else base64.b64decode(case["body_base64"])
    for name in case["secrets"]:
        assert verify(case["headers"], body, [SECRETS[name]], moment(case["at"])) == case["id"]


def test_a_signature_is_a_plain_hmac_over_id_timestamp_and_body() -> None:
    body = b'{"type":"job.completed"}'
    headers = sign(body, id="msg_1", timestamp=START, secrets=[FIRST])
    key = base64.b64decode("QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8=")
    content = b'msg_1.1767355200.{"type":"job.completed"}'
    by_hand = hmac.new(key, content, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(by_hand).decode()
    assert by_hand == plain_signature(FIRST, content)
    of_the_text = hmac.new(FIRST.encode(), body, "sha256").hexdigest()
    assert headers["X-Webhook-Signature"] == f"sha256={of_the_text}"


@table("unsigned")
def test_what_no_receiver_could_verify_is_not_signed(case: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        sign(
            b"{}",
            id=case.get("id", "msg_1"),
            timestamp=moment(case.get("at", "2026-01-02T12:00:00Z")),
            secrets=case.get("secrets", [FIRST]),
        )
    assert [each["path"] for each in refusal.value.details["fields"]] == [case["field"]]


@table("unsigned")
def test_a_refusal_to_sign_does_not_show_the_secret(case: dict[str, Any]) -> None:
    for secret in case.get("secrets", []):
        with pytest.raises(ValidationFailed) as refusal:
            sign(b"", id="msg_1", timestamp=START, secrets=[secret, "whsec_"])
        shown = f"{refusal.value!r} {refusal.value} {refusal.value.details}"
        assert not any(secret[at : at + 8] in shown for at in range(6, max(len(secret) - 8, 0)))


WEST, EAST = (timezone(timedelta(hours=hours)) for hours in (-1, 1))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("body", body) for body in ("{}", None, 1, bytearray(b"{}"), {})),
        *(("id", each) for each in (None, 1, b"msg_1", ["msg_1"])),
        *(("timestamp", moment) for moment in (None, 1767355200, "now", date(2026, 1, 2))),
        *(("timestamp", moment) for moment in (datetime.min, datetime.max)),  # noqa: DTZ901 (meant)
        *(("timestamp", datetime.min.replace(tzinfo=zone)) for zone in (WEST, UTC, EAST)),
        ("timestamp", datetime.max.replace(tzinfo=WEST)),
        *(("secrets", secrets) for secrets in (None, 5, True, object(), FIRST, FIRST.encode())),
        *(
            ("secrets", secrets)
            for secrets in ([None], [5], [FIRST.encode()], [FIRST, 1], iter(()))
        ),
        ("secrets", itertools.repeat(FIRST)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_of_another_type_or_beyond_all_bounds_is_not_signed(
    field: str, value: object
) -> None:
    given: dict[str, Any] = {"body": b"{}", "id": "msg_1", "timestamp": START, "secrets": [FIRST]}
    given[field] = value
    with pytest.raises(ValidationFailed) as refusal:
        sign(given.pop("body"), **given)
    assert [each["path"] for each in refusal.value.details["fields"]] == [field]


def test_the_last_moment_of_all_is_signed() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    headers = sign(b"", id="msg_1", timestamp=last, secrets=[FIRST])
    assert headers["webhook-timestamp"] == "253402300799"


def test_secrets_that_can_be_read_once_sign_as_a_list_does() -> None:
    secrets = [FIRST, SECOND]
    headers = sign(b"{}", id="msg_1", timestamp=START, secrets=secrets)
    assert sign(b"{}", id="msg_1", timestamp=START, secrets=iter(secrets)) == headers


def test_a_new_secret_is_32_random_bytes_in_the_common_form() -> None:
    asked: list[int] = []

    def random(length: int) -> bytes:
        asked.append(length)
        return bytes(range(length))

    secret = new_secret(random)
    assert secret == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    assert asked == [32]
    assert signing_key(secret) == bytes(range(32))
    headers = sign(b"{}", id="msg_1", timestamp=START, secrets=[secret])
    assert verify(headers, b"{}", [secret], START) == "msg_1"


def test_a_later_attempt_has_another_signature_under_the_same_id() -> None:
    attempts = [
        sign(
            b"{}",
            id="msg_1",
            timestamp=datetime(2026, 1, 2, 12, 0, at, tzinfo=UTC),
            secrets=[FIRST],
        )
        for at in (0, 5)
    ]
    assert attempts[0]["webhook-id"] == attempts[1]["webhook-id"]
    assert attempts[0]["webhook-signature"] != attempts[1]["webhook-signature"]
    assert attempts[0]["X-Webhook-Signature"] == attempts[1]["X-Webhook-Signature"]

"""Messages that a receiver accepts; no input makes the verification crash."""

import base64
import re
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.events.webhooks.signing import (
    SIGNATURES_READ,
    Refusal,
    VerificationFailed,
    sign,
    verify,
)
from tests.fakes.time import START
from tests.unit.events.webhooks.cases import (
    FIRST,
    NAMES,
    SECOND,
    SECRETS,
    moment,
    plain_signature,
    reason_of,
    signed,
    table,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

FORMS = {
    "": lambda signature: base64.b64encode(signature).decode(),
    "hex": lambda signature: signature.hex(),
    "urlsafe": lambda signature: base64.urlsafe_b64encode(signature).decode(),
    "unpadded": lambda signature: base64.b64encode(signature).decode().rstrip("="),
    "loose": lambda signature: loose(base64.b64encode(signature).decode()),
    "broken": lambda signature: base64.b64encode(signature).decode().replace("=", "\n="),
    "half": lambda signature: base64.b64encode(signature[:16]).decode(),
    "upper": lambda signature: base64.b64encode(signature).decode().upper(),
}


def loose(encoded: str) -> str:
    """Return another base64 text of the same 32 bytes: its last digit has two unused bits."""
    other = f"{encoded[:-2]}{chr(ord(encoded[-2]) + 1)}="
    assert base64.b64decode(other) == base64.b64decode(encoded)
    return other


def headers_of(case: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Return the headers that a case describes, with signatures from `plain_signature`."""
    own = (case.get("id", "msg_1"), case.get("timestamp", "1767355200"))

    def signature(found: re.Match[str]) -> str:
        secret, form, other = found.groups()
        content = (
            other.encode()
            if other
            else ".".join(own).encode("utf-8", "surrogatepass") + b"." + body
        )
        return str(FORMS[form or ""](plain_signature(SECRETS[secret], content)))

    given = re.sub(
        r"\{(\w+)(?:!(\w+))?(?::(.*))?\}", signature, case.get("signature", "v1,{first}")
    )
    genuine = dict(zip(NAMES, (*own, given), strict=True)) | case.get("values", {})
    renamed = {case.get("names", {}).get(name, name): value for name, value in genuine.items()}
    extra = {
        name: genuine[name.lower()] if value is None else value
        for name, value in case.get("extra", {}).items()
    }
    return renamed | extra


@table("verification")
def test_a_delivery_is_believed_or_refused_for_one_reason(case: dict[str, Any]) -> None:
    body = case.get("body", "{}").encode()
    secrets = case.get("literal_secrets", [SECRETS[s] for s in case.get("secrets", ["first"])])
    if "at" in case:
        now = moment(case["at"])
    else:
        now = EPOCH + timedelta(seconds=int(case.get("timestamp", "1767355200")))
        now += timedelta(seconds=case.get("late", 0))
    headers = headers_of(case, body)
    if "refused" not in case:
        assert verify(headers, body, secrets, now) == case.get("id", "msg_1")
        return
    with pytest.raises(VerificationFailed) as refusal:
        verify(headers, body, secrets, now)
    assert refusal.value.reason == case["refused"]


# ---------------------------------------------------------------- Cases that don't fit into a table


def test_a_clock_of_another_zone_shows_the_same_moment() -> None:
    east = timedelta(hours=5, minutes=30)
    now = START.astimezone(datetime.strptime("+0530", "%z").tzinfo)
    assert now.utcoffset() == east
    assert verify(signed(), b"{}", [FIRST], now) == "msg_1"


@pytest.mark.parametrize(
    ("before", "believed"), [(SIGNATURES_READ - 1, True), (SIGNATURES_READ, False)]
)
def test_only_the_first_signatures_are_read(before: int, believed: bool) -> None:
    headers = signed()
    headers["webhook-signature"] = "v1,AAAA " * before + headers["webhook-signature"] + " v1,AAAA"
    if believed:
        assert verify(headers, b"{}", [FIRST], START) == "msg_1"
    else:
        assert reason_of(headers) == Refusal.NO_MATCHING_SIGNATURE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("webhook-id", "m" * 1_000_000),
        ("webhook-timestamp", "9" * 1_000_000),
        ("webhook-timestamp", "1_" * 500_000),
        ("webhook-signature", "v1," + "A" * 1_000_000),
        ("webhook-signature", "v1,AAAA " * 200_000),
        ("webhook-signature", " " * 1_000_000),
        ("webhook-signature", "," * 1_000_000),
    ],
    ids=["id", "timestamp", "underscores", "signature", "signatures", "blanks", "commas"],
)
def test_a_huge_header_costs_next_to_nothing(name: str, value: str) -> None:
    headers = signed() | {name: value}
    began = process_time()
    assert reason_of(headers) in {Refusal.MALFORMED_HEADER, Refusal.NO_MATCHING_SIGNATURE}
    assert process_time() - began < 0.1


def test_a_refusal_shows_neither_secret_nor_signature_nor_what_was_sent() -> None:
    headers = signed(secrets=(FIRST, SECOND))
    for broken, secrets in (
        (headers | {"webhook-id": "msg_2"}, [FIRST]),
        (headers | {"webhook-timestamp": "1767355200.0"}, [FIRST]),
        (headers | {"webhook-signature": headers["webhook-signature"][:-1]}, [SECOND]),
        (headers, [FIRST, SECOND[:-1] + "?"]),
    ):
        with pytest.raises(VerificationFailed) as refusal:
            verify(broken, b"[]", secrets, START)
        error = refusal.value
        shown = f"{error!r} {error} {error.details} {error.__cause__!r}"
        for hidden in (FIRST[6:14], SECOND[6:14], *broken.values()):
            assert hidden not in shown
        assert error.__suppress_context__ or error.__context__ is None
        assert (error.code, error.status) == ("WEBHOOK_UNVERIFIED", 401)


# ---------------------------------------------------------------- Properties

bodies = st.binary(max_size=200)
ids = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="."), min_size=1
)
moments = st.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001 (hypothesis adds the zone)
    max_value=datetime(9999, 12, 31),  # noqa: DTZ001 (as above)
    timezones=st.just(UTC),
)
secrets_of_any_length = st.binary(min_size=24, max_size=64).map(
    lambda key: "whsec_" + base64.b64encode(key).decode()
)
some_secrets = st.lists(secrets_of_any_length, min_size=1, max_size=4, unique=True)


@given(bodies, ids, moments, some_secrets, st.data())
def test_what_was_signed_is_believed_under_each_of_its_secrets(
    body: bytes, message_id: str, at: datetime, secrets: list[str], data: st.DataObject
) -> None:
    headers = sign(body, id=message_id, timestamp=at, secrets=secrets)
    known = data.draw(st.lists(st.sampled_from(secrets), min_size=1))
    assert verify(headers, body, known, at) == message_id


def padded_key(secret: str) -> bytes:
    """Return the key as HMAC uses it: filled with zeros to a block (RFC 2104, section 2)."""
    return base64.b64decode(secret.removeprefix("whsec_")).ljust(64, b"\0")


@given(bodies, ids, some_secrets, secrets_of_any_length)
def test_no_other_secret_believes_it(
    body: bytes, message_id: str, secrets: list[str], other: str
) -> None:
    headers = sign(body, id=message_id, timestamp=START, secrets=secrets)
    if padded_key(other) not in map(padded_key, secrets):
        assert reason_of(headers, body, [other]) == Refusal.NO_MATCHING_SIGNATURE


@given(bodies.filter(len), ids, st.data())
def test_any_flipped_bit_is_detected(body: bytes, message_id: str, data: st.DataObject) -> None:
    headers = sign(body, id=message_id, timestamp=START, secrets=[FIRST])
    place = data.draw(st.sampled_from([*NAMES, "body"]))
    text = body if place == "body" else headers[place].encode()
    at, bit = data.draw(st.integers(0, len(text) - 1)), data.draw(st.integers(0, 7))
    flipped = text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :]
    if place == "body":
        reason_of(headers, flipped)
    else:
        reason_of(headers | {place: flipped.decode("latin-1")}, body)


@given(bodies, st.data())
def test_a_body_of_another_length_is_detected(body: bytes, data: st.DataObject) -> None:
    headers = sign(body, id="msg_1", timestamp=START, secrets=[FIRST])
    other = data.draw(st.one_of(bodies, st.just(body + b"\0"), st.just(b"\0" + body)))
    if other != body:
        assert reason_of(headers, other) == Refusal.NO_MATCHING_SIGNATURE


@given(st.floats(-600, 600))
def test_it_is_believed_for_five_minutes_around_its_timestamp(late: float) -> None:
    skew = timedelta(seconds=late)
    if abs(skew) <= timedelta(minutes=5):
        assert verify(signed(), b"{}", [FIRST], START + skew) == "msg_1"
    else:
        assert reason_of(signed(), now=START + skew) == (
            Refusal.TOO_OLD if late > 0 else Refusal.TOO_NEW
        )


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.text()),
)
nearly = st.one_of(
    st.sampled_from(["1767355200", "msg_1", "v1,", FIRST, ""]),
    st.text(st.sampled_from("0123456789+-_.eE ,=vV1٣é\x00\n\ud800")),
    st.from_regex(r"(v[12]a?,[A-Za-z0-9+/=]{0,50} ?){0,5}"),
    anything,
)
headers_of_any_kind = st.one_of(
    st.dictionaries(
        st.one_of(st.sampled_from(NAMES), st.text(), st.binary(), st.integers(), st.none()), nearly
    ),
    st.fixed_dictionaries(dict.fromkeys(NAMES, nearly)),
    st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), anything), nearly)),
    anything,
)


@given(
    headers_of_any_kind,
    st.one_of(bodies, anything),
    st.one_of(st.just([FIRST]), st.lists(st.one_of(nearly, secrets_of_any_length)), anything),
    st.one_of(st.just(START), moments, anything),
)
def test_nothing_that_is_sent_or_set_raises_another_error(
    headers: Any, body: Any, secrets: Any, now: Any
) -> None:
    with pytest.raises(VerificationFailed):
        verify(headers, body, secrets, now)

"""Headers that a tenant may add to its deliveries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.events.webhooks.rules import allowed_headers
from spinneret.events.webhooks.signing import sign
from spinneret.kernel.errors import ValidationFailed
from tests.fakes.time import START
from tests.rows import each_row
from tests.unit.events.webhooks.cases import SECRETS

PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def field_of(headers: dict[str, str]) -> str:
    with pytest.raises(ValidationFailed) as refusal:
        allowed_headers(headers)
    fields = refusal.value.details["fields"]
    assert refusal.value.message.startswith(f"{fields[0]['path']}: ")
    return str(fields[0]["path"])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer abc.def"},
        {"Cookie": "a=b; c=d"},
        {"X-Team": "search and crawl\twith a tab"},
        {"x-empty": ""},
        {"X": PRINTABLE},
        {"!#$%&'*+-.^_`|~09azAZ": "every kind of sign"},
        {"Webhook": "a", "X-Webhook": "b", "My-Webhook-Id": "c", "Hostname": "d", "X-Host": "e"},
        {"Accept": "*/*", "Accept-Language": "en", "Content-Language": "en", "My-Svix-Id": "a"},
        {f"X-{number}": "v" for number in range(20)},
        {"X": "v" * (8 * 1024 - 1)},
    ],
    ids=lambda headers: ",".join(headers)[:40],
)
def test_ordinary_headers_pass_as_they_are(headers: dict[str, str]) -> None:
    allowed = allowed_headers(headers)
    assert allowed == headers
    assert allowed is not headers


@each_row(
    (ascii(name), name)
    for name in [
        *sign(b"", id="msg_1", timestamp=START, secrets=[SECRETS["first"]]),
        *(
            "Webhook-Id",
            "WEBHOOK-SIGNATURE",
            "webhook-anything",
            "webhook_id",
            "X_Webhook_Signature",
        ),
        *("Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "TE", "te"),
        *("Proxy-Authorization", "Trailer", "Trailers", "Transfer-Encoding", "transfer_encoding"),
        *("Upgrade", "Host", "HOST", "Content-Length", "content_length", "Content-Type"),
        *("Content-Encoding", "Expect", "User-Agent", "user-agent"),
        *("HTTP2-Settings", "http2_settings", "Accept-Encoding", "accept_encoding"),
        *("svix-id", "Svix-Timestamp", "SVIX-SIGNATURE", "svix_signature"),
    ]
)
def test_what_the_sender_sets_itself_is_refused_in_any_spelling(name: str) -> None:
    assert field_of({name: "v"}) == f"headers.{name}"
    assert field_of({"X-Before": "v", name: ""}) == f"headers.{name}"


NO_TOKENS = [
    *(
        "",
        " ",
        "X A",
        " X",
        "X ",
        "X:",
        ":path",
        "X\r\nY",
        "X\n",
        "X\0",
        "X\x7f",
        "Ü",
        "X/Y",
        "(X)",
    ),
    *("X,Y", "X;Y", "X=Y", '"X"', "{X}", "[X]", "X@Y", "X?", "X\\Y", "<X>", "\u212a", "\ud800"),
]
NOT_CARRIED = [
    *(" ", "\t", " a", "a ", "a\t", "a\r\nX: b", "a\nb", "a\rb", "a\n", "a\0b", "a\x1bb", "a\x7f"),
    *("é", "\u2028", "\u00a0", "\ud800"),
]


@each_row((ascii(name), name) for name in NO_TOKENS)
def test_a_name_that_is_no_token_is_refused(name: str) -> None:
    assert field_of({name: "v"}) == "headers"


@each_row((ascii(value), value) for value in NOT_CARRIED)
def test_a_value_that_http_does_not_carry_unchanged_is_refused(value: str) -> None:
    assert field_of({"X-A": value}) == "headers.X-A"


@pytest.mark.parametrize(
    "headers",
    [
        {f"X-{number}": "v" for number in range(21)},
        {"X": "v" * 8 * 1024},
        {"X" * 8 * 1024: "v"},
        {f"X-{number:02}": "v" * 600 for number in range(15)},
    ],
    ids=["21", "one value", "one name", "together"],
)
def test_too_many_or_too_large_headers_are_refused(headers: dict[str, str]) -> None:
    assert field_of(headers) == "headers"


@pytest.mark.parametrize("other", ["X-TEAM", "x-team", "X_Team"])
def test_two_spellings_of_one_name_are_refused(other: str) -> None:
    assert field_of({"X-Team": "a", other: "b"}) == f"headers.{other}"


def test_a_refusal_does_not_show_a_value() -> None:
    with pytest.raises(ValidationFailed) as refusal:
        allowed_headers({"Authorization": "Bearer s3cret\n"})
    assert "s3cret" not in f"{refusal.value!r} {refusal.value.details}"


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=5))
def test_what_passes_can_be_sent_and_never_replaces_our_own(headers: dict[str, str]) -> None:
    try:
        allowed = allowed_headers(headers)
    except ValidationFailed:
        return
    own = sign(b"", id="msg_1", timestamp=START, secrets=[SECRETS["first"]])
    assert not {name.lower() for name in allowed} & {name.lower() for name in own}
    for name, value in allowed.items():
        line = f"{name}: {value}"
        assert line.isascii()
        assert line.replace("\t", " ").isprintable()
        assert value == value.strip()

"""Excerpts of messages and responses in the delivery log never show a part of a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.excerpts import excerpt_of, logged_payload
from spinneret.events.webhooks.models import RESPONSE_BODY_MAX_CHARS
from spinneret.redaction import MARK

BOUND = limits.WEBHOOK_EXCERPT_BYTES
LETTERS = "Qx7Rt2Wb9Kd4Ln6Mv3Zs8Yc5Pf1Hg0Jj"
# Public prefix of a secret, its secret part, and an optional suffix.
SECRETS = {
    "GitHub": ("ghp_", LETTERS + "aB3d"),
    "GitHub's finer one": ("github_pat_", LETTERS * 2),
    "Slack": ("xoxb-", f"123456789012-{LETTERS}"),
    "Stripe": ("sk_live_", LETTERS),
    "webhook": ("whsec_", LETTERS),
    "ours": ("spn_", LETTERS),
    "SendGrid": ("SG.", f"{LETTERS[:22]}.{LETTERS}"),
    "JWT": ("eyJhbGciOiJIUzI1NiJ9.", f"eyJzdWIi{LETTERS}.{LETTERS}"),
    "Mailchimp": ("", "0123456789abcdef0123456789abcdef-us12"),
    "Telegram": ("123456789:", f"AA{LETTERS}"),
    "Databricks": ("dapi", "0123456789abcdef0123456789abcdef"),
    "Slack's URL": ("https://hooks.slack.com/services/", f"T0123/B0123/{LETTERS}"),
    "a password in a URL": ("https://ada:", LETTERS, "@db.example/"),
    "a field": ('"password": "', LETTERS, '"'),
    "a bearer": ("Authorization: Bearer ", LETTERS),
    "an AWS secret behind its id": ("AKIA", f"QX7RT2WB9KD4LN6M {LETTERS}ab/d+fgh"),
}
KEY_LINES = "\n".join([LETTERS + LETTERS.swapcase()] * 48)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_LINES}\n-----END RSA PRIVATE KEY-----\n"
FILLERS = ("x", " ", "\n", "all is well. ", '{"ok":true},', "ü", "🕷")

secrets = st.sampled_from(sorted(SECRETS))
fillers = st.sampled_from(FILLERS)


def answer(before: str, filler: str, name: str, offset: int, after: str = "\n") -> bytes:
    """Return the first BOUND bytes of a body that has a secret at byte `offset`."""
    padding = (
        (filler * BOUND).encode()[: offset - len(before.encode()) - 1].decode("utf-8", "ignore")
    )
    text = f"{before}{padding} {''.join(SECRETS[name])}{after}" + "all is well. " * 400
    return text.encode()[:BOUND]


def assert_hidden(excerpt: str, name: str) -> None:
    hidden = SECRETS[name][1]
    shown = [hidden[at : at + 6] for at in range(len(hidden) - 5) if hidden[at : at + 6] in excerpt]
    assert not shown


QUICK_SECRETS = {"an AWS secret behind its id"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_SECRETS else pytest.mark.heavy)
        for name in SECRETS
    ],
)
def test_the_bound_cuts_no_secret_beyond_recognition(name: str) -> None:
    for offset in range(BOUND - 120, BOUND):
        assert_hidden(excerpt_of(answer(PEM, "all is well. ", name, offset)), name)


@given(secrets, fillers, st.sampled_from(["", PEM, PEM[:2000], "a\n" * 40]), st.integers(1, BOUND))
def test_no_part_of_a_secret_is_kept_wherever_it_stands(
    name: str, filler: str, before: str, offset: int
) -> None:
    offset = max(offset, len(before) + 1)
    assert_hidden(excerpt_of(answer(before, filler, name, offset)), name)


@given(st.integers(3000, BOUND))
def test_what_follows_a_secret_may_tell_that_it_is_one(offset: int) -> None:
    """A record gives its name after its value, and the bound falls between the two."""
    record = f'{{"value": "{LETTERS}", "name": "password"}}'
    body = f"{PEM}{' ' * max(offset - len(PEM), 0)}{record}".encode()
    assert LETTERS[:6] not in excerpt_of(body[:BOUND] if len(body) >= BOUND else body)


@pytest.mark.parametrize(
    "body", ["thanks", "", "{}", "x" * 999, "one\ntwo", "ü" * 500, "x" * (BOUND - 1), "🕷" * 1000]
)
def test_a_short_answer_is_kept_to_its_end(body: str) -> None:
    assert excerpt_of(body.encode()) == body[:RESPONSE_BODY_MAX_CHARS]


@pytest.mark.parametrize("filler", ["x", " ", "all is well. ", '{"ok":true},', "ü", "蜘"])
def test_the_first_thousand_characters_of_a_long_answer_are_kept(filler: str) -> None:
    body = (filler * BOUND).encode()[:BOUND]
    assert excerpt_of(body) == (filler * BOUND)[:RESPONSE_BODY_MAX_CHARS]


def test_a_secret_is_replaced_and_what_follows_it_is_kept() -> None:
    body = answer("hello\n", "a", "GitHub", 20) + b" and so on" * 10
    assert excerpt_of(body[:200]).startswith(f"hello\naaaaaaaaaaaaa {MARK}\nall is well. ")


def test_bytes_that_are_no_text_are_kept_as_replacement_characters() -> None:
    assert excerpt_of(b"a\xff\xfeb") == "a\ufffd\ufffdb"


# ---------------------------------------------------------------- Sent messages


def test_a_logged_message_shows_no_secret() -> None:
    content = {"type": "job.failed", "data": {"job_id": "job_1", "error": {"password": LETTERS}}}
    logged = logged_payload(content)
    assert LETTERS not in str(logged)
    assert (logged["type"], logged["data"]["job_id"]) == ("job.failed", "job_1")

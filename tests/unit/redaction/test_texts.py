"""Secrets are redacted, their surroundings stay, and values without secrets come back equal.

Each table is read in one test, so that thousands of rows don't need thousands of tests; a failing
test names all rows that failed.
"""

import html
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spinneret.redaction import MARK, redact, redact_text

DYNAMODB_TYPES = {"S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"}
SECRET = "s3cr3t-Value-9"


def _joined(value: Any) -> Any:
    """Return the intended value: the file splits what secret scanners would take for real."""
    if isinstance(value, str):
        return value.replace("~~", "\ue000").replace("~", "").replace("\ue000", "~")
    if isinstance(value, list):
        return [_joined(item) for item in value]
    if isinstance(value, dict):
        return {_joined(key): _joined(item) for key, item in value.items()}
    return value


CASES = _joined(
    json.loads(
        (Path(__file__).resolve().parents[2] / "cases" / "redaction.json").read_text("utf-8")
    )
)
LEAKING: list[dict[str, Any]] = CASES["leaking"]
HARMLESS: list[dict[str, Any]] = CASES["harmless"]
TOKENS: list[str] = CASES["tokens"]


def _is_typed(value: Any) -> bool:
    """Return whether the value contains a value of DynamoDB's API."""
    if isinstance(value, list):
        return any(map(_is_typed, value))
    return isinstance(value, dict) and (
        not DYNAMODB_TYPES.isdisjoint(value) or any(map(_is_typed, value.values()))
    )


def _typed(value: Any) -> Any:
    """Return the value in the format of DynamoDB's API."""
    match value:
        case bool():
            return {"BOOL": value}
        case None:
            return {"NULL": True}
        case str():
            return {"S": value}
        case int() | float():
            return {"N": str(value)}
        case list():
            return {"L": [_typed(item) for item in value]}
    return {"M": {key: _typed(item) for key, item in value.items()}}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if isinstance(case["input"], str)]


def _values(cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if not isinstance(case["input"], str)]


def _leaks(case: dict[str, Any], *forms: Any) -> list[tuple[str, str]]:
    """Return the case's id with each form whose redaction shows a secret, or isn't final."""
    found = []
    for form in forms:
        after = redact(form)
        if any(secret in _shown(after) for secret in case["secrets"]) or redact(after) != after:
            found.append((case["id"], _shown(form)))
    return found


# covers P-11
@pytest.mark.heavy
def test_a_secret_goes_and_its_surroundings_stay() -> None:
    wrong = []
    for case in LEAKING:
        after = _shown(redact(case["input"]))
        lost = [part for part in case["must_survive"] if part not in after]
        if _leaks(case, case["input"]) or lost or MARK not in after:
            wrong.append((case["id"], after))
    assert wrong == []


def test_what_leaks_nothing_comes_back_equal() -> None:
    assert [case for case in HARMLESS if redact(case["input"]) != case["input"]] == []


@pytest.mark.heavy
def test_a_secret_goes_inside_of_a_longer_text_too() -> None:
    wrong = []
    for case in _texts(LEAKING):
        if "alone" not in case:
            text = case["input"]
            wrong += _leaks(case, f"[{text}] ", f"before\n{text}\nafter", {"message": text})
    assert wrong == []


@pytest.mark.heavy
def test_a_value_written_as_json_is_as_safe_as_the_value() -> None:
    wrong = []
    for case in _values(LEAKING):
        once = json.dumps(case["input"])
        twice = json.dumps({"body": once})
        thrice = json.dumps({"body": twice})
        cut_off = (once[:-1], json.dumps({"n": 1, "body": once})[:-3])
        wrong += _leaks(case, once, twice, thrice, *cut_off, json.dumps(case["input"], indent=2))
        for text in (once, twice, thrice):
            json.loads(redact_text(text))
    assert wrong == []


def test_a_value_shown_by_python_is_as_safe_as_the_value() -> None:
    wrong = []
    for case in _values(LEAKING):
        value = case["input"]
        wrong += _leaks(case, repr(value), repr(ValueError(value)), ValueError(value))
    assert wrong == []


@pytest.mark.heavy
def test_a_value_typed_by_dynamodb_is_as_safe_as_the_value() -> None:
    wrong = []
    for case in _values(LEAKING):
        if not _is_typed(case["input"]):
            typed = _typed(case["input"])
            item = typed.get("M", typed)
            text = json.dumps(item)
            forms = (item, {"NewImage": item}, text, json.dumps({"body": text}), text[:-1])
            wrong += _leaks(case, *forms, repr(item))
    assert wrong == []


def test_a_harmless_value_comes_back_equal_in_every_spelling() -> None:
    wrong = []
    for case in _values(HARMLESS):
        value = case["input"]
        forms = [json.dumps(value), repr(value)]
        if not _is_typed(value):
            forms.append(_typed(value))
        wrong += [(case["id"], form) for form in forms if redact(form) != form]
    assert wrong == []


def _forms(name: str) -> list[Any]:
    """Return a secret after its name, in the notations of values and texts."""
    return [
        {name: SECRET, "user": "bob"},
        json.dumps({name: SECRET}),
        json.dumps({"body": json.dumps({"a": [{name: SECRET}]})}),
        repr({name: SECRET}),
        f"{name}={SECRET}",
        f"{name}: {SECRET}",
        f"user=bob&{name}={SECRET}",
        f"https://h.example/?{name}={SECRET}&page=2",
        f"\x1b[36m{name}\x1b[0m=\x1b[33m{SECRET}\x1b[0m",
        [(name, SECRET), ("a", "b")],
        [(name.encode(), SECRET.encode()), (b"a", b"b")],
        {"name": name, "value": SECRET},
        {"Key": name, "Value": SECRET},
        KeyError(f"{name}={SECRET}"),
    ]


@pytest.mark.parametrize(
    "spelled",
    [
        str,
        str.title,
        pytest.param(str.lower, marks=pytest.mark.heavy),
        pytest.param(str.upper, marks=pytest.mark.heavy),
    ],
)
def test_a_secret_name_hides_its_value_in_every_form(spelled: Callable[[str], str]) -> None:
    assert [
        (name, form)
        for name in map(spelled, CASES["secret_names"])
        for form in _forms(name)
        if SECRET in repr(redact(form))
    ] == []


@pytest.mark.heavy
def test_a_secret_name_hides_its_value_in_any_casing() -> None:
    source = random.Random(7)
    names = [
        "".join(source.choice((letter.upper(), letter.lower())) for letter in name)
        for name in ("password", "api_key", "X-Api-Key", "secret", "Authorization", "accessToken")
        for _ in range(40)
    ]
    assert [name for name in names for form in _forms(name) if SECRET in repr(redact(form))] == []


def test_a_harmless_name_leaves_its_value() -> None:
    assert [
        name
        for name, value in CASES["harmless_names"].items()
        for form in ({name: value, "n": 1}, json.dumps({name: value}), [{name: value}])
        if redact(form) != form
    ] == []


@pytest.mark.parametrize(
    "around",
    [
        *("{}", "calling with {} now", "https://h.example/x/{}/y", "say '{}'", '{{"a": "{}"}}'),
        *("\x1b[32m{}\x1b[0m", "\x1b[1;38;5;208m{}", "word\x1b[0m{}", '{{"a": "\\u001b[36m{}"}}'),
        *("line\\n{}\\n", "a%20{}"),
    ],
)
def test_a_token_goes_by_its_form_alone(around: str) -> None:
    assert [token for token in TOKENS if token in redact_text(around.format(token))] == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\x1b[36mapi_key\x1b[0m=abc123 n=1", "api_key=[redacted] n=1"),
        ("api\x1b[1m_key=abc123", "api_key=[redacted]"),
        ("\x1b[31mpassword\x1b[0m: \x1b[33mhunter2\x1b[0m, ok", "password: [redacted], ok"),
        ("token\x1b(B\x1b[m=abc123", "token=[redacted]"),
        ('\x1b[0;32m"token"\x1b[0m: \x1b[0;33m"abc123"\x1b[0m', '"token": "[redacted]"'),
        ("https://bob:\x1b[31mhunter2\x1b[0m@h.example", "https://bob:[redacted]@h.example"),
        ("\x9b36mapi_key\x9b0m=abc123", "api_key=[redacted]"),
        (
            '{"m":"\\u001b[36mtoken\\u001b[0m=abc1"}',
            '{"m":"\\u001b[36mtoken\\u001b[0m=[redacted]"}',
        ),
        ("'\\x1b[36mtoken\\x1b[0m=abc123'", "'\\x1b[36mtoken\\x1b[0m=[redacted]'"),
        ("%1B%5B36mtoken%1B%5B0m%3Dabc123", "%1B%5B36mtoken%1B%5B0m%3D[redacted]"),
        ("\x1b[1mall is well\x1b[0m", "all is well"),
    ],
)
def test_colours_hide_nothing(text: str, clean: str) -> None:
    assert redact_text(text) == clean


class Refused(Exception):
    """An error with a foreign text."""


WRAPPERS: dict[str, Callable[[str], Any]] = {
    "JSON": lambda text: json.dumps({"msg": text}),
    "JSON in JSON": lambda text: json.dumps({"a": json.dumps({"msg": text})}),
    "JSON in JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": json.dumps([text])})}),
    "cut off JSON": lambda text: json.dumps({"msg": text})[:-2],
    "cut off JSON in JSON": lambda text: json.dumps({"a": json.dumps({"msg": text})})[:-4],
    "repr": repr,
    "repr of an error": lambda text: repr(ValueError(text)),
    "repr of a list": lambda text: repr([text]),
    "repr of a dictionary": lambda text: repr({"message": text}),
    "repr of bytes": lambda text: repr(text.encode("utf-8", "replace")),
    "quotes": lambda text: f'"{text}"',
    "HTML": html.escape,
    "a URL": lambda text: "https://h.example/?n=" + quote(text.encode("utf-8", "replace"), safe=""),
    "a line of a log": lambda text: f"2026-01-01 INFO [main] {text} (req=1)",
    "a field of a log": lambda text: f'level=info msg="{text}" n=1',
    "twice": lambda text: f"{text}\n{text}",
    "a list": lambda text: ["a", text],
    "bytes": lambda text: text.encode("utf-8", "surrogatepass"),
    "UTF-16": lambda text: text.encode("utf-16-le", "surrogatepass"),
    "an error": Refused,
    "an error with a dictionary": lambda text: Refused({"message": text}),
    "a key": lambda text: {text: 1},
}
ASCII_ONLY = {"repr of bytes", "a URL", "UTF-16"}  # other characters become unreadable in them


def _seen(value: Any) -> str:
    """Return the value as a reader sees it."""
    if isinstance(value, bytes):
        return value.decode("utf-16-le" if b"\0" in value[:40] else "utf-8", "replace")
    return value if isinstance(value, str) else repr(value)


@pytest.mark.heavy
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_secret_goes_however_its_text_is_wrapped(wrapper: str) -> None:
    wrong = []
    for case in _texts(LEAKING):
        if "alone" in case or (wrapper in ASCII_ONLY and not case["input"].isascii()):
            continue
        once = redact(WRAPPERS[wrapper](case["input"]))
        if any(secret in _seen(once) for secret in case["secrets"]) or redact(once) != once:
            wrong.append((case["id"], _seen(once)))
    assert wrong == []


PIECES = [
    *"aZ0=:&;,?\"'`\\[]{}()<>@/%#.-_ \n\t|*~^$!",
    *("token", "pin", "password", "key", "Cookie: ", "Authorization: ", "Bearer ", "api", "://"),
    *("[redacted]", "%3D", "%26", "&quot;", '\\"', "x1y2z3w4v5u6", "name", "value", "--", "is "),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "MIICXAIBAAKBgQCqGKukO1De7zhZj6\n",
    ),
    *(
        '"tokens": {',
        "auth",
        '"S": "',
        '"L":[',
        "set_password(",
        "not found: ",
        "sk_" + "live_a1B2c3D4",
    ),
    *(
        "API key provided ",
        "a1B2c3D4e5F6g7H8",
        "--user=",
        "<password>",
        "</password>",
        "none",
        "\\n",
    ),
    *("\x1b[36m", "\x1b[0m", "\x1b", "\\u001b[36m", "\u200b", "https://bob:x1y2@h/", "{'a': '"),
    *('", "', "': '", "', '", '": "', '":{"', "%5B", "\uff1d"),
]


def _is_final(text: str) -> bool:
    once = redact_text(text)
    return once != "[unreadable]" and redact_text(once) == once


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@example('?a: [0m\\u001b[36m"token": \x1b[36m"')
@pytest.mark.heavy
def test_redacting_a_text_twice_changes_nothing(text: str) -> None:
    assert _is_final(text)


@pytest.mark.heavy
@settings(max_examples=1_000)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_redacting_any_of_many_texts_twice_changes_nothing(text: str) -> None:
    assert _is_final(text)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert _is_final(text)
    assert isinstance(redact(text.encode("utf-8", "surrogatepass")), bytes)


@settings(max_examples=20)
@given(st.integers(min_value=1, max_value=4))
def test_json_in_json_is_read_at_every_depth(depth: int) -> None:
    text = json.dumps({"name": "token", "value": SECRET, "user": "bob"})
    for _ in range(depth):
        text = json.dumps({"body": text})
    after = redact_text(text)
    assert SECRET not in after
    assert "bob" in after
    json.loads(after)


@given(
    st.text(alphabet=st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)
)
def test_no_character_of_a_quoted_secret_survives(noise: str) -> None:
    secret = f"{noise}Canary{noise}"
    after = redact_text(json.dumps({"user": "bob", "password": secret, "stage": "dev"}))
    assert "Canary" not in after
    assert json.loads(after) == {"user": "bob", "password": MARK, "stage": "dev"}


def test_a_large_text_is_redacted_too() -> None:
    line = f'2026-01-01T00:00:00Z INFO url="https://h.example/?page=7" token={SECRET} ms=12\n'
    after = redact_text(line * 2_000)
    assert SECRET not in after
    assert after == line.replace(SECRET, MARK) * 2_000


@pytest.mark.parametrize("text", [r"['\d', 1a]", "[1if 2, 'a']", "{'a': '\\q'}", r"(b'\u1', 2x)"])
def test_what_only_looks_like_a_document_comes_back_equal(text: str) -> None:
    assert redact_text(text) == text


def test_the_cases_are_as_many_as_promised() -> None:
    assert len(LEAKING) >= 600
    assert len(HARMLESS) >= 500

"""Redaction of Python values of any type, shape and depth; it never raises."""

import copy
import enum
import json
import logging
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from subprocess import CalledProcessError
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import ParseResult, SplitResult, SplitResultBytes, urlparse, urlsplit
from uuid import UUID

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spinneret.redaction import MARK, redact, redact_text

SECRET = "Canary-7x9-secret"
SECRET_NAMES = ("password", "apiKey", "X-Api-Key", "client_secret", "Authorization", "Set-Cookie")
DEPTH = 1000

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=30)
    | st.sampled_from(
        ["password=x1y2", '{"token": "a"}', "https://u:p@h/", "a%3Db", "Bearer x.y.z"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=12)
            | st.sampled_from(["id", "token", "user", "name", "value", "auth"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)
ANYTHING = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.datetimes()
    | st.uuids()
    | st.decimals(allow_nan=False)
    | st.builds(ValueError, st.text(max_size=20)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(max_size=8) | st.integers() | st.binary(max_size=4), inner, max_size=3
        )
    ),
    max_leaves=15,
)
# Names and texts that affect each other's redaction wherever they occur together.
WORDS = st.sampled_from(
    [
        *("token", "password", "id", "name", "value", "auth", "session", "tokens", "pass", "Key"),
        *("-u", "--token", "--user=bob:x1", "Authorization", "X-Api-Key", "sid", "pwd", "kty", "d"),
        *("S", "L", "M", "SS", "N", "loc", "input", "netloc", "query", "none", "12", "swordfish"),
        *("a1B2c3D4e5F6g7H8", "\x1b[36mapi_key\x1b[0m", "AKIA" + "IOSFODNN7EXAMPLE", "/home/x"),
        *("Bearer x1y2z3w4", "token=x1y2z3", "https://bob:x1y2@h/", "<password>", "Cookie: a=b"),
        *(
            "-----BEGIN PRIVATE KEY-----kind",
            "[redacted]",
            "%3D",
            '{"token": "a"}',
            "sk_" + "live_a1B2c3D4",
        ),
    ]
)
COMPANY = st.recursive(
    WORDS
    | st.tuples(WORDS, WORDS).map("".join)
    | WORDS.map(str.encode)
    | WORDS.map(ValueError)
    | st.none()
    | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(st.tuples(WORDS, inner), max_size=3)
        | st.dictionaries(
            WORDS | st.tuples(WORDS, WORDS) | st.tuples(WORDS, WORDS).map("".join),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.Enum):
    HIGH = 1


class Field(enum.Enum):
    API_KEY = 1
    REGION = 2


class Header(enum.StrEnum):
    SENDER = "Authorization"


@dataclass(frozen=True)
class Settings:
    stage: str
    api_key: str
    retries: int = 3


@dataclass(frozen=True)
class Job:
    id: str
    steps: list[str] = field(default_factory=list)


class Point(NamedTuple):
    name: str
    token: str | int


class Broken:
    def __str__(self) -> str:
        raise RuntimeError(SECRET)

    __repr__ = __str__


class BrokenMapping(UserDict[str, str]):
    def items(self) -> Any:
        raise RuntimeError(SECRET)


class BrokenError(Exception):
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


class Telling:
    def __repr__(self) -> str:
        return f"<Client token={SECRET}>"


class Silent:
    def __init__(self) -> None:
        self.password = SECRET
        self.host = "db.local"


class Slotted:
    __slots__ = ("host",)


def raised(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as caught:
        return caught


def nested(depth: int, make: Callable[[Any], Any], core: Any) -> Any:
    value = core
    for _ in range(depth):
        value = make(value)
    return value


@given(JSON)
def test_json_keeps_its_shape(value: Any) -> None:
    def same(before: Any, after: Any) -> bool:
        if isinstance(before, dict):
            return (
                isinstance(after, dict)
                and len(before) == len(after)
                and all(map(same, before.values(), after.values()))
            )
        if isinstance(before, list):
            return (
                isinstance(after, list)
                and len(before) == len(after)
                and all(map(same, before, after))
            )
        return before == after or isinstance(after, str)

    assert same(value, redact(value))


@given(JSON | ANYTHING | COMPANY)
@example([("-u", ValueError("a:b"))])
@example([["token", "token"], [ValueError("token"), "token"]])
@example([["token", "token"], [ValueError("api_key"), "token"]])
@example([ValueError("--password"), "token"])
@example([("auth", "<password>\x1b[0m"), ("a", 1)])
@example({"tokens": {"Cookie: kind: x": "a b", "pass": ValueError("x")}})
def test_redacting_twice_changes_nothing(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once
    assert "[unreadable]" not in repr(once)


@pytest.mark.heavy
@settings(max_examples=6 * settings.default.max_examples)
@given(COMPANY)
def test_redacting_any_of_many_values_twice_changes_nothing(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


@given(ANYTHING)
def test_nothing_is_changed_in_place(value: Any) -> None:
    before = repr(value)
    redact(value)
    assert repr(value) == before


@given(ANYTHING)
def test_any_value_can_be_read(value: Any) -> None:
    assert "[unreadable]" not in repr(redact(value))


# covers P-11
@given(JSON, st.sampled_from(SECRET_NAMES), st.sampled_from([str, json.dumps]))
def test_what_stands_under_a_secret_name_is_gone_everywhere(
    value: Any, name: str, written: Callable[[Any], str]
) -> None:
    planted = {
        "a": value,
        name: {"b": [value, SECRET, {SECRET: SECRET}]},
        "c": [{name: SECRET}, value],
    }
    assert SECRET not in repr(redact(planted))
    assert SECRET not in redact_text(written(planted))
    assert SECRET not in repr(redact({"body": written(planted)}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            urlsplit("https://bob:x1y2@h.example:8080/p?token=x1y2&a=b#id_token=x1y2"),
            SplitResult(
                *("https", f"bob:{MARK}@h.example:8080", "/p", f"token={MARK}&a=b"),
                f"id_token={MARK}",
            ),
        ),
        (
            urlparse("https://bob:x1y2@h.example/p;a=1?code=4/0AX4XfWjurl25secret"),
            ParseResult("https", f"bob:{MARK}@h.example", "/p", "a=1", f"code={MARK}", ""),
        ),
        (
            urlsplit(b"https://bob:x1y2@h.example?token=x1y2"),
            SplitResultBytes(b"https", b"bob:[redacted]@h.example", b"", b"token=[redacted]", b""),
        ),
        (
            {"netloc": "bob:x1y2@h.example", "query_string": b"token=x1y2"},
            {"netloc": f"bob:{MARK}@h.example", "query_string": b"token=[redacted]"},
        ),
        ({"name": "api_key", "value": "abc"}, {"name": "api_key", "value": MARK}),
        ({"Name": "API_KEY", "Value": "abc"}, {"Name": "API_KEY", "Value": MARK}),
        ({"key": "db_pass", "value": "swordfish"}, {"key": "db_pass", "value": MARK}),
        ({"name": b"api_key", "value": b"abc"}, {"name": b"api_key", "value": b"[redacted]"}),
        (("api_key", "swordfish"), ("api_key", MARK)),
        ([("api_key", "swordfish"), ("a", "b")], [("api_key", MARK), ("a", "b")]),
        ([["Cookie", "a=b"], ["Host", "h"]], [["Cookie", MARK], ["Host", "h"]]),
        ([(b"x-api-key", b"abc"), (b"a", b"b")], [(b"x-api-key", b"[redacted]"), (b"a", b"b")]),
        (["--password", "x"], ["--password", MARK]),
        (["--token=x"], [f"--token={MARK}"]),
        (("tool", "--api-key", "swordfish", "-v"), ("tool", "--api-key", MARK, "-v")),
        (["curl", "-u", "bob:x1y2", "https://h"], ["curl", "-u", MARK, "https://h"]),
        (
            CalledProcessError(1, ["tool", "--password", "x1y2"]),
            (
                f"CalledProcessError: Command '['tool', '--password', '{MARK}']' returned non-zero"
                " exit status 1."
            ),
        ),
        ({"\x1b[36mapi_key\x1b[0m": "abc"}, {"api_key": MARK}),
        ({"headers": httpx.Headers({"x-api-key": "abc"})}, {"headers": {"x-api-key": MARK}}),
        (httpx.URL("https://bob:x1y2@h.example/"), f"https://bob:{MARK}@h.example/"),
    ],
    ids=repr,
)
def test_what_a_value_is_shows_in_its_company(value: Any, expected: Any) -> None:
    assert redact(value) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(urlsplit("https://h.example:8080/p?a=b#c"), ("password", "username"), ("key", "value")),
        *(["password", "token"], {"missing": ["password", "email"]}, ["-u", "1000:1000"]),
        *(["--max-tokens", "512"], ["tool", "--token"], {"Key": "Name", "Value": "web"}),
        *({"name": "token", "in": "query"}, {"name": "auth", "value": "none"}),
        *({"query": "how to reset a password"}, {"fragment": "top"}, [("token_count", "5")]),
    ],
    ids=repr,
)
def test_harmless_company_comes_back_equal(value: Any) -> None:
    assert redact(value) == value


def test_everything_under_a_secret_name_goes() -> None:
    value = {"credentials": {"a": 1, "b": [None, True, 2.5, b"x", ("y",)]}, "n": 1}
    assert redact(value) == {
        "credentials": {"a": MARK, "b": [MARK, MARK, MARK, MARK.encode(), (MARK,)]},
        "n": 1,
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"password=x1y2z3 user=bob", b"password=[redacted] user=bob"),
        (bytearray(b"token=x1y2z3"), bytearray(b"token=[redacted]")),
        (memoryview(b"token=x1y2z3"), b"token=[redacted]"),
        (b"\xff token=x1y2z3 \xfe", b"\xff token=[redacted] \xfe"),
        ("password=x1y2z3 a=b".encode("utf-16-le"), "password=[redacted] a=b".encode("utf-16-le")),
        ("password=x1y2z3 a=b".encode("utf-16-be"), "password=[redacted] a=b".encode("utf-16-be")),
        ({b"password": b"x1y2z3", b"a": b"b"}, {b"password": b"[redacted]", b"a": b"b"}),
        (
            [(b"authorization", b"Bearer x"), (b"a", b"b")],
            [(b"authorization", b"[redacted]"), (b"a", b"b")],
        ),
        (("password", "x1y2z3"), ("password", MARK)),
        (("token=x1y2z3", 1), (f"token={MARK}", 1)),
        ({"token=x1y2z3", "a"}, {f"token={MARK}", "a"}),
        (frozenset({("token", "x1y2z3")}), frozenset({("token", MARK)})),
        (deque(["token=x1y2z3"]), deque([f"token={MARK}"])),
        (OrderedDict(password="x"), {"password": MARK}),
        (defaultdict(list, {"password": ["x"]}), {"password": [MARK]}),
        (MappingProxyType({"password": "x"}), {"password": MARK}),
        (UserDict({"password": "x"}), {"password": MARK}),
        (Point("a", "x1y2z3"), Point("a", MARK)),
        (Settings("dev", "x1y2z3"), {"stage": "dev", "api_key": MARK, "retries": 3}),
        ({"job": Settings("dev", "x")}, {"job": {"stage": "dev", "api_key": MARK, "retries": 3}}),
        (SimpleNamespace(password="x", a=1), f"namespace(password='{MARK}', a=1)"),
        (Telling(), f"<Client token={MARK}>"),
        (PurePosixPath("/x/token=x1y2z3/y"), f"/x/token={MARK}"),
        ({Colour.RED: "a", "password": Colour.RED}, {Colour.RED: "a", "password": MARK}),
        ({1: "token=x1y2z3", None: 2}, {1: f"token={MARK}", None: 2}),
        ({("token", "x1y2z3"): 1}, {("token", MARK): 1}),
        ({Field.API_KEY: "x", Field.REGION: "eu"}, {Field.API_KEY: MARK, Field.REGION: "eu"}),
        ({Header.SENDER: "x"}, {Header.SENDER: MARK}),
        (
            {("db", "password"): "x", ("db", "host"): "y"},
            {("db", "password"): MARK, ("db", "host"): "y"},
        ),
        ({("api", "key"): "x", ("s3", "key"): "y"}, {("api", "key"): MARK, ("s3", "key"): "y"}),
        ({("db", Field.API_KEY, 1): ["x"]}, {("db", Field.API_KEY, 1): [MARK]}),
        ({"tokens": {"SS": {"x1y2z3"}}}, {"tokens": {"SS": {MARK}}}),
        ({"db_pass": {"B": b"x1y2z3"}}, {"db_pass": {"B": b"[redacted]"}}),
        ({"tokens": ({"v": "x1y2z3"},)}, {"tokens": ({"v": MARK},)}),
        (
            {"password": "", "secret": None, "cookies": True},
            {"password": "", "secret": None, "cookies": True},
        ),
        (ValueError("token=x1y2z3"), f"ValueError: token={MARK}"),
        (KeyError("a"), "KeyError: 'a'"),
        (
            {"error": OSError(2, "no such file")},
            {"error": "FileNotFoundError: [Errno 2] no such file"},
        ),
    ],
    ids=lambda value: type(value).__name__,  # the order of a set isn't defined
)
def test_values_of_all_types(value: Any, expected: Any) -> None:
    after = redact(value)
    assert after == expected
    assert type(after) is type(expected)


@pytest.mark.parametrize(
    "value",
    [
        *(Colour.RED, Level.HIGH, Decimal("1.5"), UUID(int=7), datetime(2026, 1, 1, tzinfo=UTC)),
        *(Job("job_1", ["a"]), 1 + 2j, range(3), int, len, Slotted, PurePosixPath("/a/b"), ...),
        *(
            b"\x00\xff\x10",
            (1, "a"),
            {1, 2},
            frozenset({"a"}),
            Point("a", 1)._replace(token="")[:1],
        ),
        logging.getLogger("a"),
    ],
    ids=repr,
)
def test_what_holds_no_secret_comes_back_as_it_was(value: Any) -> None:
    assert redact(value) == value
    assert type(redact(value)) is type(value)


def test_an_exception_tells_its_notes_causes_and_members() -> None:
    first = raised(ConnectionError(f"https://bob:{SECRET}@db.local refused"))
    second = RuntimeError({"password": SECRET, "user": "bob"})
    second.__cause__ = first
    second.add_note(f"tried with token={SECRET}")
    third = LookupError("no host")
    third.__context__ = second
    text = redact(ExceptionGroup("all failed", [third, ValueError(f"api_key={SECRET}")]))
    assert SECRET not in text
    for part in ("all failed", "db.local refused", "'user': 'bob'", "tried with", "no host"):
        assert part in text
    for name in ("ExceptionGroup", "ConnectionError", "RuntimeError", "LookupError", "ValueError"):
        assert name in text


def test_an_object_with_a_secret_attribute_becomes_its_text() -> None:
    after = redact(Silent())
    assert isinstance(after, str)
    assert "Silent object" in after
    assert SECRET not in after


def test_a_suppressed_context_is_not_told() -> None:
    error = ValueError("outer")
    error.__context__, error.__suppress_context__ = KeyError("inner"), True
    assert redact(error) == "ValueError: outer"


def test_an_exception_that_causes_itself_ends() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert redact(first) == "ValueError: first\ncaused by ValueError: second"


@pytest.mark.parametrize("value", [Broken(), BrokenMapping(a=SECRET), BrokenError()])
def test_what_cannot_be_read_is_not_shown(value: Any) -> None:
    assert SECRET not in repr(redact(value))
    after = redact({"before": 1, "odd": value, "after": [value]})
    assert SECRET not in repr(after)
    assert after["before"] == 1


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda value: {"a": value}, "a"),
        (lambda value: [value], 0),
        (lambda value: (value,), 0),
    ],
    ids=["objects", "lists", "tuples"],
)
def test_depth_is_no_obstacle(make: Callable[[Any], Any], step: Any) -> None:
    after = redact(nested(DEPTH, make, {"password": SECRET, "b": "c"}))
    for _ in range(DEPTH):
        after = after[step]
    assert after == {"password": MARK, "b": "c"}


def test_what_lies_below_any_sensible_depth_is_not_let_through() -> None:
    after = redact(nested(20_000, lambda value: [value], SECRET))
    while isinstance(after, list):
        after = after[0]
    assert after == "[too deep]"


def test_a_value_that_contains_itself_ends() -> None:
    value: dict[str, Any] = {"password": SECRET, "list": []}
    value["self"] = value
    value["list"].append(value["list"])
    assert redact(value) == {"password": MARK, "list": ["[circular]"], "self": "[circular]"}


def test_a_value_that_is_met_often_is_copied_once() -> None:
    value: Any = {"password": SECRET}
    for _ in range(60):  # 2 ** 60 paths lead to it
        value = [value, value]
    after = redact(value)
    while isinstance(after, list):
        after = after[1]
    assert after == {"password": MARK}


def test_the_same_value_is_hidden_under_a_secret_name_only() -> None:
    shared = ["a", "b"]
    assert redact({"names": shared, "passwords": shared}) == {
        "names": ["a", "b"],
        "passwords": [MARK, MARK],
    }


def test_a_copy_shares_nothing_with_its_source() -> None:
    value = {"a": [{"b": 1}], "c": {"d": set()}}
    kept = copy.deepcopy(value)
    redact(value)["a"][0]["b"] = 2
    assert value == kept


def test_keys_that_are_secrets_stay_apart() -> None:
    keys = ["ghp" + "_" + letter * 36 for letter in "abc"]
    after = redact({key: number for number, key in enumerate(keys)})
    assert list(after.values()) == [0, 1, 2]
    assert redact(after) == after
    assert not any(letter * 36 in key for key in after for letter in "abc")

"""What leaks must go, what is around it must stay, what leaks nothing must come back equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spinneret.redaction import MARK, redact, redact_text

CASES = Path(__file__).resolve().parents[2] / "cases"
FILES = ("redaction.json", "redaction_forms.json")
DYNAMODB_TYPES = {"S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"}


def _joined(value: Any) -> Any:
    """The value as it is meant: the file parts what scanners of repositories take for real."""
    if isinstance(value, str):
        return value.replace("~~", "\ue000").replace("~", "").replace("\ue000", "~")
    if isinstance(value, list):
        return [_joined(item) for item in value]
    if isinstance(value, dict):
        return {_joined(key): _joined(item) for key, item in value.items()}
    return value


_READ = [json.loads((CASES / name).read_text(encoding="utf-8")) for name in FILES]
LEAKING = [_joined(case) for read in _READ for case in read["leaking"]]
HARMLESS = [_joined(case) for read in _READ for case in read["harmless"]]


def _is_typed(value: Any) -> bool:
    """Whether a value of DynamoDB's API is anywhere in it."""
    if isinstance(value, list):
        return any(map(_is_typed, value))
    return isinstance(value, dict) and (
        not DYNAMODB_TYPES.isdisjoint(value) or any(map(_is_typed, value.values()))
    )


LEAKING_VALUES = [case for case in LEAKING if not isinstance(case["input"], str)]
LEAKING_UNTYPED = [case for case in LEAKING_VALUES if not _is_typed(case["input"])]
HARMLESS_UNTYPED = [
    case for case in HARMLESS if not isinstance(case["input"], str) and not _is_typed(case["input"])
]


def _typed(value: Any) -> Any:
    """The value as DynamoDB's API writes it."""
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


@pytest.mark.parametrize("case", LEAKING, ids=lambda case: case["id"])
def test_a_secret_goes_and_its_surroundings_stay(case: dict[str, Any]) -> None:
    before, after = _shown(case["input"]), _shown(redact(case["input"]))
    assert [secret for secret in case["secrets"] if secret in after] == []
    assert [part for part in case["must_survive"] if part not in after] == []
    assert MARK in after
    assert after != before


@pytest.mark.parametrize("case", LEAKING, ids=lambda case: case["id"])
def test_what_is_redacted_stays_as_it_is(case: dict[str, Any]) -> None:
    once = redact(case["input"])
    assert redact(once) == once


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case["id"])
def test_what_leaks_nothing_comes_back_equal(case: dict[str, Any]) -> None:
    assert redact(case["input"]) == case["input"]


@pytest.mark.parametrize(
    "case",
    [case for case in LEAKING if isinstance(case["input"], str) and "alone" not in case],
    ids=lambda case: case["id"],
)
@pytest.mark.parametrize("around", ["{}", "[{}] ", "before\n{}\nafter"])
def test_a_secret_goes_inside_of_a_longer_text_too(case: dict[str, Any], around: str) -> None:
    after = redact_text(around.replace("{}", case["input"]))
    assert [secret for secret in case["secrets"] if secret in after] == []


@pytest.mark.parametrize(
    "case",
    [case for case in LEAKING if not isinstance(case["input"], str)],
    ids=lambda case: case["id"],
)
def test_a_value_written_as_json_is_as_safe_as_the_value(case: dict[str, Any]) -> None:
    text = json.dumps(case["input"])
    for _ in range(3):
        after = redact_text(text)
        assert [secret for secret in case["secrets"] if secret in after] == []
        text = json.dumps({"body": text})


@pytest.mark.parametrize(
    "case",
    [case for case in LEAKING if not isinstance(case["input"], str)],
    ids=lambda case: case["id"],
)
def test_a_value_shown_by_python_is_as_safe_as_the_value(case: dict[str, Any]) -> None:
    after = redact_text(repr(case["input"]))
    assert [secret for secret in case["secrets"] if secret in after] == []


@pytest.mark.parametrize("case", LEAKING_UNTYPED, ids=lambda case: case["id"])
def test_a_value_typed_by_dynamodb_is_as_safe_as_the_value(case: dict[str, Any]) -> None:
    typed = _typed(case["input"])
    item = typed.get("M", typed)
    text = json.dumps(item)
    for form in (item, {"NewImage": item}, text, json.dumps({"body": text}), repr(item), text[:-1]):
        after = _shown(redact(form))
        assert [secret for secret in case["secrets"] if secret in after] == []


@pytest.mark.parametrize("case", HARMLESS_UNTYPED, ids=lambda case: case["id"])
def test_a_harmless_value_typed_by_dynamodb_comes_back_equal(case: dict[str, Any]) -> None:
    typed = _typed(case["input"])
    assert redact(typed) == typed


@pytest.mark.parametrize("case", LEAKING_VALUES, ids=lambda case: case["id"])
def test_a_value_in_json_that_is_cut_off_is_as_safe_as_the_value(case: dict[str, Any]) -> None:
    text = json.dumps(case["input"])
    for form in (text[:-1], json.dumps({"n": 1, "body": text})[:-3]):
        after = redact_text(form)
        assert [secret for secret in case["secrets"] if secret in after] == []
        assert redact_text(after) == after


def test_the_cases_are_as_many_as_promised() -> None:
    assert len(LEAKING) >= 250
    assert len(HARMLESS) >= 120

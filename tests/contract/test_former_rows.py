"""Check that today's code reads the rows that an earlier release wrote.

The contract suites of the release of 2026-11-23 (commit ebc54864) recorded
`tests/cases/former_rows.json`: each kind of row, and the value that the release read from it. The
file never changes, because stages contain such rows. A later release adds its own file. The file
omits the idempotency key of jobs whose suite gave none, because the service gives each job one.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

import pytest
from boto3.dynamodb.types import TypeDeserializer

from spinneret.aws.codec import Codec
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import RequestKey
from tests.conftest import ROOT
from tests.fakes.time import START

FORMER: Final[dict[str, list[dict[str, Any]]]] = json.loads(
    (ROOT / "tests" / "cases" / "former_rows.json").read_text()
)
"""Recorded rows by the reader of that release, as `module:name`."""
REPLIES: Final = "spinneret.jobs.dynamo:Idempotency"
RENAMED: Final[Mapping[str, str]] = {}
"""Today's names of readers that have been renamed since, by their former names."""
CASES: Final = [
    pytest.param(reader, each, id=f"{reader.removeprefix('spinneret.')}-{number}")
    for reader, rows in FORMER.items()
    if reader != REPLIES
    for number, each in enumerate(rows)
]


@pytest.mark.parametrize(("reader", "former"), CASES)
def test_a_row_of_a_former_release_has_the_same_meaning_today(
    reader: str, former: dict[str, Any]
) -> None:
    module, _, name = RENAMED.get(reader, reader).partition(":")
    read = getattr(import_module(module), name)
    row = {key: TypeDeserializer().deserialize(_typed(each)) for key, each in former["row"].items()}
    today = plain(read.decode(row) if isinstance(read, Codec) else read(row))
    assert _missing(former["value"], today) == []


def test_a_reply_that_a_former_release_stored_is_replayed_today() -> None:
    for former in FORMER[REPLIES]:
        row = {name: TypeDeserializer().deserialize(each) for name, each in former["row"].items()}
        client: Any = SimpleNamespace(
            batch_get_item=lambda row=row, **_: {"Responses": {"i": [row]}}
        )
        store = DynamoJobStore(client, "j", "i", clock=lambda: START)
        stored = store.find_reply(RequestKey(**former["value"]["request"]), START)
        assert stored is not None
        assert stored.payload == former["value"]["request"]["payload"]
        assert plain(stored.reply) == former["value"]["reply"]


def _typed(attribute: Any) -> Any:
    """Return the attribute as DynamoDB returns it. In the file, bytes are hexadecimal."""
    match attribute:
        case {"B": {"__bytes__": str(text)}}:
            return {"B": bytes.fromhex(text)}
        case {"L": list(each)}:
            return {"L": [_typed(part) for part in each]}
        case {"M": dict(each)}:
            return {"M": {key: _typed(part) for key, part in each.items()}}
    return attribute


def _missing(former: Any, today: Any, at: str = "") -> list[str]:
    """Return the differences between today's value and the former one; new fields are allowed."""
    if isinstance(former, dict) and isinstance(today, dict):
        return [
            difference
            for name, each in former.items()
            for difference in _missing(each, today.get(name, "no such field"), f"{at}.{name}")
        ]
    return [] if former == today else [f"{at}: {today!r} instead of {former!r}"]


def plain(value: Any) -> Any:
    """Return a value as JSON in the form of the file."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Enum():
            return _scalar(value.value)
        case datetime():
            return value.isoformat()
        case bytes():
            return value.hex()
        case None | str() | int() | float():
            return value
    return str(value)

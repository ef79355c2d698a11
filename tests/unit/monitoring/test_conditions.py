"""The language of conditions: when conditions hold, and why invalid ones are rejected."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from spinneret.kernel.errors import ValidationFailed
from spinneret.monitoring.conditions.evaluation import failed
from spinneret.monitoring.conditions.language import parse_conditions, reads_body, reads_status
from spinneret.monitoring.conditions.models import Condition, Facts
from tests.rows import each_row

pytest.importorskip("lark")

JSON = '{"queue": {"depth": 7, "jobs": [{"id": "a"}, {"id": "b"}]}, "ok": true, "none": null}'
DAY = 86400


def facts(text: str = JSON, **fields: Any) -> Facts:
    given: dict[str, Any] = {
        "status": 200,
        "time_ms": 250,
        "size": 2048,
        "certificate_seconds": 20.0 * DAY,
        "headers": {"content-type": "text/html; charset=utf-8"},
        "body": lambda: text,
    }
    return Facts(**(given | fields))


HOLDS = [
    "status == 200",
    "status != 404",
    "status in (200, 204)",
    "status >= 200 and status < 300",
    "time < 300ms",
    "time <= 0.25s",
    "size == 2kb",
    "size < 1mb",
    "certificate > 14d",
    "certificate > 14",
    "certificate < 500h",
    'body contains "queue"',
    "body contains 'depth'",
    r'body matches "{\"queue\"*null}"',
    'header("Content-Type") matches "text/*"',
    'header("x-none") == null',
    'json("queue.depth") == 7',
    'json("queue.depth") == 7.0',
    'json("queue.jobs[1].id") == "b"',
    'json("queue.jobs") != null',
    'json("queue.depth") > -5',
    'json("ok") == true',
    'json("ok") != 1',
    'json("none") == null',
    'json("a.b.c[7]") == null',
    "not status == 404",
    "not (status == 404 or status == 500)",
    "status == 404 or time < 1s and size > 1kb",
    "(status == 200)",
]
FAILS = [
    "status == 404",
    "time < 250ms",
    "certificate > 21d",
    'body contains "QUEUE"',
    'body matches "queue"',
    'json("queue.depth") > 8',
    'json("ok") == "true"',
    'json("ok") < 5',
    'json("queue.depth") contains "7"',
    'header("x-none") contains "a"',
    'header("x-none") matches "*"',
    "status == 404 and time < 1s",
    "(status == 404 or time < 1s) and size > 1mb",
]


def told(conditions: Sequence[Condition], answer: Facts) -> str:
    """Return the message of the first condition that fails; "" if all hold."""
    unmet = failed(conditions, answer)
    return "" if unmet is None else unmet.message


@each_row([(text, text) for text in HOLDS])
def test_it_holds(text: str) -> None:
    assert failed(parse_conditions([text]), facts()) is None


@each_row([(text, text) for text in FAILS])
def test_it_does_not_hold(text: str) -> None:
    assert failed(parse_conditions([text]), facts()) is not None


def test_what_was_found_instead_is_told() -> None:
    conditions = parse_conditions(["status == 200", 'json("queue.depth") < 5'])
    found = '(json("queue.depth") is 7)'
    assert told(conditions, facts()) == f'not met: json("queue.depth") < 5 {found}'


def test_a_body_is_decoded_once_for_all_conditions() -> None:
    decoded = itertools.count()
    answer = facts(body=lambda: "{}" if next(decoded) == 0 else "")
    text = "body contains '{' and body matches '*}' and json('a') == null"
    assert failed(parse_conditions([text] * 3), answer) is None


OF_LONG_BODIES = [
    ('body contains "head"', None),
    ('body contains "tail"', "can't be evaluated"),
    ('not (body contains "tail")', "can't be evaluated"),
    ('body matches "head*"', None),
    ('body matches "*rest"', "can't be evaluated"),
    ('not (body matches "*tail*")', "can't be evaluated"),
    ('body == "head"', "not met"),
    ('not (body == "head") and body != "head"', None),
    ('body contains "tail" or body contains "head"', None),
    ('not (body contains "tail" and status == 500)', None),
    ('body contains "tail" and status == 500', "not met"),
    ('body contains "tail" or status == 500', "can't be evaluated"),
]


@each_row([(text, (text, words)) for text, words in OF_LONG_BODIES])
def test_of_a_body_that_was_read_in_part_only_the_known_is_said(
    row: tuple[str, str | None],
) -> None:
    text, words = row
    message = told(parse_conditions([text]), facts("head and the rest", body_is_whole=False))
    assert message.startswith(words) if words else not message


def test_half_a_character_of_the_site_can_be_stored() -> None:
    message = told(parse_conditions(['json("a") == 1']), facts('{"a": "\\ud83d"}'))
    assert message == 'not met: json("a") == 1 (json("a") is "?")'


FOUND = [
    ("certificate > 21d", "certificate ends in 20 d"),
    ("certificate > 30", "certificate ends in 20 d"),
    ("certificate > 481h", "certificate ends in 20 d"),
    ("time < 100ms", "time is 250 ms"),
    ("size > 1mb", "size is 2 kB"),
    ("status == 404", "status is 200"),
    ('header("x-none") == "1"', 'header("x-none") is null'),
]


@each_row([(text, (text, words)) for text, words in FOUND])
def test_what_was_found_has_its_unit(row: tuple[str, str]) -> None:
    text, words = row
    assert told(parse_conditions([text]), facts()) == f"not met: {text} ({words})"


UNITS = [
    ("certificate > 14d", {"certificate_seconds": 430543.000396}, "certificate ends in 4 d 23 h"),
    (
        "certificate > 14d",
        {"certificate_seconds": 430543.0 - 4 * DAY},
        "certificate ends in 23 h 35 min",
    ),
    ("certificate > 14d", {"certificate_seconds": 59.9}, "certificate ends in 59 s"),
    ("certificate > 14d", {"certificate_seconds": 0.4}, "certificate ends in 0 s"),
    ("certificate > 14d", {"certificate_seconds": None}, "certificate is null"),
    ("time < 1s", {"time_ms": 1534}, "time is 1534 ms"),
    ("time < 1s", {"time_ms": 2000}, "time is 2000 ms"),
    ("size > 1mb", {"size": 5}, "size is 5 B"),
    ("size > 1mb", {"size": 1536}, "size is 1.5 kB"),
    ("size < 1mb", {"size": 1048577}, "size is 1048577 B"),
]


@each_row([(f"{text} at {given}", (text, given, words)) for text, given, words in UNITS])
def test_a_measured_value_reads_as_a_person_would_say_it(
    row: tuple[str, dict[str, Any], str],
) -> None:
    text, given, words = row
    assert told(parse_conditions([text]), facts(**given)) == f"not met: {text} ({words})"


def test_a_body_that_is_no_json_has_no_parts() -> None:
    conditions = parse_conditions(['json("a") == null'])
    for body in ("", "<html>", "[" * 100_000, '"text"'):
        assert failed(conditions, facts(body)) is None


def test_without_tls_there_is_no_certificate() -> None:
    without = facts(certificate_seconds=None)
    assert failed(parse_conditions(["certificate == null"]), without) is None
    assert failed(parse_conditions(["certificate > 1d"]), without) is not None


def test_a_pattern_is_matched_in_linear_time() -> None:
    conditions = parse_conditions([f'body matches "{"*a" * 100}b"'])
    assert failed(conditions, facts("a" * 1_000_000)) is not None


REFUSED = [
    ("status = 200", 8, "can't be read"),
    ("status ==", None, "ends too early"),
    ("status == 200 200", 15, "expected"),
    ("colour == 1", 1, "status, time, size"),
    ("", None, "ends too early"),
    ("status == '200'", None, "a value that isn't a number"),
    ("status contains 2", None, "status, a number"),
    ("body < 5", None, "text"),
    ("body == 5", None, "a value that isn't a text"),
    ("time < 2d", None, "it takes ms, s"),
    ("status == 200s", None, "no unit"),
    ("time < -5ms", None, "time, which is never negative, with -5ms"),
    ("size in (0, -1kb)", None, "size, which is never negative"),
    ("status != -1", None, "status, which is never negative"),
    ("certificate > -1.5d", None, "certificate, which is never negative, with -1.5d"),
    ("body matches 'a' extra", 18, "can't be read"),
    ('json("a..b") == 1', None, "path"),
    ('json("") == 1', None, "path"),
    ('json("a[x]") == 1', None, "path"),
    ('header("a b") == "1"', None, "header"),
    ('json("a") < "b"', None, "a value that isn't a number"),
    ("(status == 200", None, "ends too early"),
    ("status == 200)", 14, "from ')' on"),
    ("statuss == 200", 1, "from 'statuss == 200' on: expected"),
    ("statusin (200)", 1, "from 'statusin (200)' on: expected"),
    ('headers("x") == "y"', 1, "status, time, size"),
]


@each_row([(text, (text, column, words)) for text, column, words in REFUSED])
def test_what_cannot_be_read_is_explained(row: tuple[str, int | None, str]) -> None:
    text, column, words = row
    with pytest.raises(ValidationFailed) as refused:
        parse_conditions(["status == 200", text])
    [field] = refused.value.details["fields"]
    assert field["path"] == "conditions.1"
    assert words in field["message"]
    if column is not None:
        assert field["column"] == column


def test_what_conditions_look_at_is_known() -> None:
    assert reads_body(parse_conditions(["status == 200 and not (size > 5)"]))
    assert not reads_body(parse_conditions(["status == 200", 'header("a") == "b"']))
    assert reads_status(parse_conditions(["time < 1s or status == 200"]))
    assert not reads_status(parse_conditions(["time < 1s"]))


def test_deep_conditions_are_read_as_well() -> None:
    deep = "not " * 120 + "status == 200"
    assert failed(parse_conditions([deep]), facts()) is None
    nested = "(" * 240 + "status == 200" + ")" * 240
    assert failed(parse_conditions([nested]), facts()) is None

"""Contract tests of host state stores: the fake, moto, and DynamoDB Local."""

from uuid import uuid4

import pytest

from spinneret.web.politeness.changes import (
    AttributeUpdates,
    ConditionalUpdate,
    Guard,
    Increment,
    Row,
    absent,
    absent_or_at_most,
    different,
    equal,
    greater_than,
    together,
)
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import Record
from spinneret.web.politeness.ports import HostStateStore, Refused, Written
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.politeness import FakeHostStateStore

pytestmark = OF_AWS

NOW = 1_767_355_200_123  # epoch milliseconds: more than 32 bits


@pytest.fixture
def ledger(tables: Tables | None) -> HostStateStore:
    if tables is None:
        return FakeHostStateStore()
    return DynamoHostStateStore(tables.client, tables.names["Domains"])


@pytest.fixture
def host() -> str:
    """Return a host that only this test uses."""
    return f"{uuid4().hex}.example"


def put(ledger: HostStateStore, host: str, row: Row, record: Record = Record.PACE) -> None:
    if row:
        assert ledger.update(host, record, ConditionalUpdate(to=dict(row))) == Written(row)


def test_an_unknown_host_has_an_empty_row(ledger: HostStateStore, host: str) -> None:
    assert ledger.read(host, Record.PACE) == {}


@pytest.mark.parametrize(
    ("guard", "row", "holds"),
    [
        (absent("tat"), {}, True),
        (absent("tat"), {"tail": 1}, True),
        (absent("tat"), {"tat": 0}, False),
        (equal("tat", NOW), {"tat": NOW}, True),
        (equal("tat", NOW), {"tat": NOW + 1}, False),
        (equal("tat", NOW), {}, False),
        (equal("holder", "a"), {"holder": "a"}, True),
        (equal("holder", "a"), {"holder": "A"}, False),
        (different("holder", "a"), {}, True),
        (different("holder", "a"), {"holder": "b"}, True),
        (different("holder", "a"), {"holder": "a"}, False),
        (absent_or_at_most("tat", NOW), {}, True),
        (absent_or_at_most("tat", NOW), {"tat": NOW - 1}, True),
        (absent_or_at_most("tat", NOW), {"tat": NOW}, True),
        (absent_or_at_most("tat", NOW), {"tat": NOW + 1}, False),
        (absent_or_at_most("tat", -1), {"tat": 0}, False),
        (greater_than("tat", NOW), {}, False),
        (greater_than("tat", NOW), {"tat": NOW}, False),
        (greater_than("tat", NOW), {"tat": NOW + 1}, True),
        (greater_than("tat", -5), {"tat": 0}, True),
        (greater_than("tat", 9), {"tat": 10}, True),
    ],
)
def test_a_change_happens_if_its_guard_holds_and_answers_the_row_either_way(
    ledger: HostStateStore, host: str, guard: Guard, row: Row, holds: bool
) -> None:
    put(ledger, host, row)
    answer = ledger.update(
        host, Record.PACE, ConditionalUpdate(guards=(guard,), to={"failures": 1})
    )
    expected = {**row, "failures": 1} if holds else row
    assert answer == (Written(expected) if holds else Refused(row))
    assert ledger.read(host, Record.PACE) == expected


@pytest.mark.parametrize(
    ("row", "to", "after"),
    [
        ({}, {"tat": NOW}, {"tat": NOW}),
        ({"tat": 1}, {"tat": NOW}, {"tat": NOW}),
        ({"tat": NOW}, {"tat": Increment(250)}, {"tat": NOW + 250}),
        ({"tat": NOW}, {"tat": Increment(-250, start=7)}, {"tat": NOW - 250}),
        ({}, {"failures": Increment(1)}, {"failures": 1}),
        ({"tat": 5}, {"fence": Increment(1, start=NOW)}, {"tat": 5, "fence": NOW + 1}),
        ({"holder": "a", "tat": 1}, {"holder": None}, {"tat": 1}),
        ({"tat": 1}, {"holder": None, "tat": 2}, {"tat": 2}),
        ({"a": 1, "b": 2}, {"a": None, "b": Increment(1), "c": "x"}, {"b": 3, "c": "x"}),
        ({}, {"holder": "Jörg/🕷", "opened_by": ""}, {"holder": "Jörg/🕷", "opened_by": ""}),
        ({}, {"tat": 0, "tail": -1}, {"tat": 0, "tail": -1}),
    ],
)
def test_a_change_sets_adds_and_removes(
    ledger: HostStateStore, host: str, row: Row, to: AttributeUpdates, after: Row
) -> None:
    put(ledger, host, row)
    assert ledger.update(host, Record.PACE, ConditionalUpdate(to=to)) == Written(after)
    assert ledger.read(host, Record.PACE) == after


def test_of_several_guards_every_one_must_hold(ledger: HostStateStore, host: str) -> None:
    put(ledger, host, {"tat": 5, "holder": "a"})
    met, unmet = (
        ConditionalUpdate(guards=(greater_than("tat", 4),)),
        ConditionalUpdate(guards=(absent("holder"),)),
    )
    act = ConditionalUpdate(to={"tat": 6})
    refused = Refused({"tat": 5, "holder": "a"})
    assert ledger.update(host, Record.PACE, together([met, unmet, act])) == refused
    assert ledger.update(host, Record.PACE, together([unmet, met, act])) == refused
    assert isinstance(ledger.update(host, Record.PACE, together([met, act])), Written)


def test_one_attribute_can_be_guarded_on_both_sides(ledger: HostStateStore, host: str) -> None:
    between = ConditionalUpdate(
        guards=(greater_than("tat", 3), absent_or_at_most("tat", 5)), to={"tat": Increment(1)}
    )
    put(ledger, host, {"tat": 4})
    answers = [ledger.update(host, Record.PACE, between) for _ in range(3)]
    assert answers == [Written({"tat": 5}), Written({"tat": 6}), Refused({"tat": 6})]


def test_hosts_and_records_stand_beside_each_other(ledger: HostStateStore, host: str) -> None:
    other = f"shop.{host}"
    put(ledger, host, {"tat": 1})
    put(ledger, other, {"tat": 2})
    put(ledger, host, {"fence": 3}, Record.SESSION)
    assert ledger.read(host, Record.PACE) == {"tat": 1}
    assert ledger.read(other, Record.PACE) == {"tat": 2}
    assert ledger.read(host, Record.SESSION) == {"fence": 3}
    assert ledger.read(other, Record.SESSION) == {}

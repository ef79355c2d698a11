"""Rows of checks on DynamoDB: repeated writes, and rows that earlier versions wrote."""

from datetime import timedelta

from spinneret.kernel.clock import to_iso
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.targets.items import state_key
from spinneret.monitoring.targets.rules import due_shard_of
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.watch_stores import later, stores_of, watched
from tests.fakes.time import START

pytestmark = OF_REAL_AWS
FOUND = CheckResult(id="res_1", checked_at=START, outcome=Outcome.UP, late_ms=3)


def test_a_check_whose_answer_was_lost_is_written_once(tables: Tables, tenant: str) -> None:
    """The SDK repeats a write and then finds the state that its first attempt wrote."""
    made, stores = watched(tenant), stores_of(tables)
    stores.targets.add(made, None)
    change = StateChange(state=later(made, slot="chk_1"))
    for _ in range(2):
        assert stores.checks.record(made, FOUND, change)
    page = stores.checks.results(tenant, "t_1", since=None, until=None, after=None, limit=9)
    assert [each.id for each in page.items] == ["res_1"]


def test_rows_of_an_earlier_version_are_listed_by_their_time(tables: Tables, tenant: str) -> None:
    at = START + timedelta(seconds=7)
    stores, made = stores_of(tables), watched(tenant, due_at=at)
    stores.targets.add(made, None)
    table, key = tables.names["Targets"], state_key(tenant, "t_1")
    item = tables.client.get_item(TableName=table, Key=key)["Item"]
    tables.client.put_item(TableName=table, Item={**item, "due_at": to_iso(at)})
    index, shard = stores.index, due_shard_of("t_1")

    [entry] = [each for each in index.due(shard, at) if each.tenant == tenant]
    assert (entry.listed_at, entry.interval_seconds) == (at, None)
    early = index.due(shard, at - timedelta(seconds=1))
    assert not [each for each in early if each.tenant == tenant]

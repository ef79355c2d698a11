"""The pager and tables of one kind of row, on moto and DynamoDB Local."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import answers, due_items, items
from spinneret.aws.table import Table
from spinneret.kernel.clock import to_iso
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.fakes.time import START

pytestmark = OF_REAL_AWS
ROWS_OF_A_MEGABYTE = 60


@dataclass(frozen=True, kw_only=True)
class Row:
    tenant: str
    id: str
    text: str = ""
    version: int = 1


def _key(tenant: str, row_id: str) -> Item:
    return {"pk": f"T#{tenant}#ROWS", "sk": row_id}


CODEC = Codec(
    Row,
    key=lambda row: _key(row.tenant, row.id),
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
)


@pytest.fixture
def name(tables: Tables) -> str:
    return tables.names["Marketplace"]


@pytest.fixture
def table(tables: Tables, name: str) -> Table[Row]:
    return Table(tables.client, name, CODEC)


@pytest.fixture
def rows(table: Table[Row], tenant: str) -> list[Row]:
    written = [Row(tenant=tenant, id=f"row_{number}") for number in range(7)]
    for row in written:
        table.put(row)
    return written


def test_a_refused_write_answers_the_row_that_refused_it(
    tables: Tables, name: str, rows: list[Row]
) -> None:
    def move(row: Row, version: int) -> object:
        return dynamo.write_or_standing(
            tables.client.update_item,
            TableName=name,
            Key=CODEC.key(row),
            UpdateExpression="SET #version = #version + :one",
            ConditionExpression="#version = :read",
            ExpressionAttributeNames=dynamo.names_in("#version"),
            ExpressionAttributeValues={":one": 1, ":read": version},
            ReturnValues="ALL_NEW",
        )

    [row, *_] = rows
    written = move(row, 1)
    assert isinstance(written, dict)
    second = CODEC.encode(replace(row, version=2))
    assert written["Attributes"] == second
    assert move(row, 1) == dynamo.Standing(second)
    assert move(replace(row, id="none"), 1) == dynamo.Standing({})


def test_what_is_due_is_named_up_to_the_limit_of_each_shard(tables: Tables, tenant: str) -> None:
    table, shards = tables.names["Audits"], [f"{tenant}#{number}" for number in range(3)]
    for shard in shards:
        for second in range(4):
            row = {
                "pk": shard,
                "sk": f"{second}",
                "due_shard": shard,
                "due_at": to_iso(START + timedelta(seconds=second)),
            }
            tables.client.put_item(TableName=table, Item=row)

    def due(second: int, limit: int) -> list[tuple[int, str]]:
        until = START + timedelta(seconds=second)
        found = due_items(tables.client, table, shards[:2], until, limit)
        return [(shards.index(each["pk"]), each["sk"]) for each in found]

    assert due(1, 9) == [(0, "0"), (0, "1"), (1, "0"), (1, "1")]
    assert due(3, 1) == [(0, "0"), (1, "0")]
    assert due(-1, 9) == []


def test_pages_are_full_and_in_order_in_both_directions(
    table: Table[Row], tenant: str, rows: list[Row]
) -> None:
    partition = f"T#{tenant}#ROWS"
    first = table.page(partition, None, 5)
    assert (list(first.items), first.after) == (rows[:5], "row_4")
    last = table.page(partition, first.after, 5)
    assert (list(last.items), last.after) == (rows[5:], None)
    assert table.page(partition, None, 7).after is None
    newest = table.page(partition, "row_5", 3, newest_first=True)
    assert (list(newest.items), newest.after) == (rows[4:1:-1], "row_2")


def test_a_query_follows_its_answers_to_the_limit(
    table: Table[Row], tenant: str, rows: list[Row]
) -> None:
    everything = ("pk = :pk", {":pk": f"T#{tenant}#ROWS"})
    assert table.query_all(*everything) == rows
    assert table.query_all(*everything, 3) == rows[:3]
    for row in rows[5:]:
        table.put(replace(row, version=2))
    filtered = table.query_all(
        "pk = :pk",
        {":pk": f"T#{tenant}#ROWS", ":version": 2},
        2,
        FilterExpression="version = :version",
    )
    assert filtered == [replace(rows[5], version=2), replace(rows[6], version=2)]


def test_a_batch_of_keys_is_read_whole_and_once(
    table: Table[Row], tenant: str, rows: list[Row]
) -> None:
    keys = [_key(tenant, row_id) for row_id in (*(row.id for row in rows), "row_1", "row_x")]
    found = table.batch_get(keys)
    assert sorted(found, key=lambda row: row.id) == rows
    assert table.batch_get([]) == []


def test_a_row_is_replaced_on_its_condition_only(table: Table[Row], tenant: str) -> None:
    row = Row(tenant=tenant, id="row_1")
    new: dynamo.Condition = ("attribute_not_exists(#pk)", {})
    assert table.replace(row, new)
    assert table.replace(row, new)  # a retry after a lost response
    assert not table.replace(replace(row, text="another"), new)
    second = replace(row, version=2, text="second")
    assert not table.replace(second, dynamo.equals(version=7))
    assert table.replace(second, dynamo.equals(version=1))
    assert table.get(_key(tenant, "row_1")) == second


def test_a_deleted_row_is_returned_once(table: Table[Row], tenant: str, rows: list[Row]) -> None:
    assert table.delete(_key(tenant, "row_3")) == rows[3]
    assert table.delete(_key(tenant, "row_3")) is None
    assert table.get(_key(tenant, "row_3")) is None


def test_more_than_a_megabyte_is_read_whole(
    tables: Tables, table: Table[Row], name: str, tenant: str
) -> None:
    written = [
        Row(tenant=tenant, id=f"row_{number:02}", text="x" * 30_000)
        for number in range(ROWS_OF_A_MEGABYTE)
    ]
    for row in written:
        table.put(row)
    assert list(table.page(f"T#{tenant}#ROWS", None, 100).items) == written
    request = {
        "TableName": name,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": f"T#{tenant}#ROWS"},
    }
    assert len(list(answers(tables.client.query, request))) > 1
    assert len(list(items(tables.client.query, request, 59))) == 59


def test_a_conditional_write_returns_its_response_or_none(
    tables: Tables, name: str, tenant: str
) -> None:
    request = {
        "TableName": name,
        "Key": _key(tenant, "row_1"),
        "UpdateExpression": "SET version = :one",
        "ConditionExpression": "attribute_not_exists(version)",
        "ExpressionAttributeValues": {":one": 1},
        "ReturnValues": "ALL_NEW",
    }
    written = dynamo.write_if(tables.client.update_item, **request)
    assert written is not None
    assert written["Attributes"]["version"] == 1
    assert dynamo.write_if(tables.client.update_item, **request) is None
    with pytest.raises(ClientError):
        dynamo.write_if(tables.client.update_item, **{**request, "UpdateExpression": "SET"})

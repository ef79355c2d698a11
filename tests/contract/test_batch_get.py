"""Batch reads of more rows than one call returns."""

from spinneret.aws import dynamo
from tests.contract.backends import OF_REAL_AWS, Tables

pytestmark = OF_REAL_AWS


def test_more_rows_than_a_call_takes_are_all_read(tables: Tables, tenant: str) -> None:
    table = tables.names["Jobs"]
    rows = [{"pk": tenant, "sk": f"{number:03}", "number": number} for number in range(201)]
    for row in rows:
        tables.client.put_item(TableName=table, Item=row)
    keys = [{"pk": row["pk"], "sk": row["sk"]} for row in rows]
    found = dynamo.batch_get(tables.client, table, keys, ("number",))
    assert sorted(int(each["number"]) for each in found) == list(range(201))

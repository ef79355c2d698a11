"""What the end of a subscription does when DynamoDB has already removed one of its rows."""

from __future__ import annotations

import pytest

from spinneret.jobs import keys
from spinneret.jobs.dynamo_connections import DynamoConnectionStore
from spinneret.jobs.models import Connection
from spinneret.jobs.ports import JobStore
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.stored_jobs import submitted
from tests.fakes.time import START

pytestmark = OF_REAL_AWS


@pytest.mark.parametrize("gone", ["job", "connection"])
def test_the_end_of_a_subscription_brings_back_no_row_that_is_gone(
    tables: Tables, store: JobStore, tenant: str, gone: str
) -> None:
    connections = DynamoConnectionStore(tables.client, tables.names["Jobs"])
    ref = submitted(store, tenant).ref
    one = Connection(id=f"{tenant}-one=", tenant=tenant)
    connections.open(one, START)
    connections.subscribe(one.id, ref, START)
    place = keys.job_key(ref) if gone == "job" else keys.connection_key(one.id)
    tables.client.delete_item(TableName=tables.names["Jobs"], Key=place)
    connections.unsubscribe(one.id, ref)
    found = tables.client.get_item(TableName=tables.names["Jobs"], Key=place)
    assert "Item" not in found

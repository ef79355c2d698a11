"""Retention of the requests that were sent to a plug-in."""

from datetime import datetime, timedelta

from spinneret.kernel import bounds
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.models import Plugin
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.fakes.time import START

pytestmark = OF_REAL_AWS


def test_what_was_sent_is_kept_as_long_as_the_record_that_it_was_begun(
    tables: Tables, tenant: str
) -> None:
    table, jobs = tables.names["Marketplace"], tables.names["Jobs"]
    plugin = Plugin(
        tenant=tenant,
        connection_id="b",
        marketplace="vinted",
        connected_at=START,
        browser="laptop",
    )
    DynamoPluginStore(tables.client, table, jobs).send(plugin, "k", "d1", START)
    place = {"pk": f"T#{tenant}#ASKED", "sk": "k"}
    row = tables.client.get_item(TableName=table, Key=place)["Item"]
    kept = datetime.fromtimestamp(int(str(row["purge_at"])), START.tzinfo) - START
    assert kept >= timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS)

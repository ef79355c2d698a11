"""Rows of a job in other stores: kept while it is paused, harmless after TTL deletes some."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.aws.reads import items
from spinneret.discovery.dynamo import DynamoDiscoveryStore
from spinneret.discovery.models import DiscoverySource, FoundUrl
from spinneret.jobs.models import Job
from spinneret.jobs.ports import JobStore
from spinneret.kernel.clock import epoch_seconds
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore
from spinneret.marketplace.tasks.models import Task, TaskType
from spinneret.monitoring.imports.dynamo import DynamoImportStore
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.stored_jobs import claimed
from tests.fakes.time import START

pytestmark = OF_REAL_AWS
PAUSED = timedelta(days=90)
LARGE = random.Random(1).randbytes(500_000).hex()  # stored in several parts


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    return claimed(store, tenant)


def rows_of(tables: Tables, table: str, partition: str) -> list[dict[str, Any]]:
    request = {
        "TableName": tables.names[table],
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": partition},
    }
    return list(items(tables.client.query, request))


def test_found_urls_and_states_of_a_discovery_outlast_a_pause(tables: Tables, job: Job) -> None:
    names = tables.names
    store = DynamoDiscoveryStore(tables.client, names["CrawlDefinitions"], names["Jobs"])
    found = FoundUrl(
        url="https://a.example/", score=None, last_modified=None, sources=(DiscoverySource.SITEMAP,)
    )
    store.keep_found(factories.lease(job), [found], START)
    store.keep_state(factories.lease(job), 1, LARGE, START)
    rows = rows_of(tables, "CrawlDefinitions", f"T#{job.tenant}#DISCOVERY#{job.id}")
    assert len(rows) > 2
    assert all(row["purge_at"] >= epoch_seconds(START + PAUSED) for row in rows)
    last = {"pk": rows[-1]["pk"], "sk": rows[-1]["sk"]}
    tables.client.delete_item(TableName=names["CrawlDefinitions"], Key=last)
    assert store.state(job.ref, 1) is None, "a part of a state is none"


def test_outcomes_and_listings_of_an_import_outlast_a_pause(tables: Tables, job: Job) -> None:
    store = DynamoImportStore(tables.client, tables.names["Targets"], tables.names["Jobs"])
    store.write(factories.lease(job), 0, [{"line": 1}], [], 9, START)
    store.keep_listing(factories.lease(job), LARGE, START)
    rows = rows_of(tables, "Targets", f"T#{job.tenant}#IMPORT#{job.id}")
    assert len(rows) > 2
    assert all(row["purge_at"] >= epoch_seconds(START + PAUSED) for row in rows)
    last = {"pk": rows[-1]["pk"], "sk": rows[-1]["sk"]}
    tables.client.delete_item(TableName=tables.names["Targets"], Key=last)
    assert store.listing(job.ref) is None, "a part of a listing is none"


def test_tasks_outlast_a_pause_after_their_last_write(tables: Tables, job: Job) -> None:
    store = DynamoTaskStore(tables.client, tables.names["Marketplace"], tables.names["Jobs"])
    made = Task(
        tenant=job.tenant,
        job_id=job.id,
        position=1,
        key="images",
        task_type=TaskType.DIRECT_HTTP,
        description="Upload images",
        platform="etsy",
        product_id=None,
        created_at=START,
    )
    later = START + timedelta(days=20)
    for task, moment in ((made, START), (replace(made, started_at=later), later)):
        store.save(factories.lease(job), [task])
        [row] = rows_of(tables, "Marketplace", f"T#{job.tenant}#TASKS#{job.id}")
        assert row["purge_at"] >= epoch_seconds(moment + PAUSED)

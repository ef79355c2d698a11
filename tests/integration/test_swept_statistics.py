"""Jobs that the sweeper ends are counted in the statistics; the sweeper is wired, on moto."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from spinneret.jobs.kinds import all_lanes
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.publishing.dynamo import DynamoActionStatistics
from spinneret.operations.sweeper_wiring import sweeper
from tests import factories
from tests.contract.backends import Tables, job_store
from tests.contract.stored_jobs import submit
from tests.tables import create_tables

REGION = "us-east-1"
PAYLOAD = {
    "marketplace": "ebay",
    "action_code": "publish",
    "product_id": "prd_1",
    "input_data": {},
    "max_retries": 3,
}


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client: Any = boto3.resource("dynamodb", region_name=REGION).meta.client
        yield Tables(client, create_tables(client))


@pytest.fixture
def env(tables: Tables) -> Mapping[str, str]:
    names, sqs = tables.names, boto3.client("sqs", region_name=REGION)
    urls = {lane: sqs.create_queue(QueueName=f"ends-{lane}")["QueueUrl"] for lane in all_lanes()}
    lane, url = urls.popitem()
    machine = boto3.client("stepfunctions", region_name=REGION).create_state_machine(
        name="deep-crawl",
        definition='{"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}',
        roleArn="arn:aws:iam::123456789012:role/unused",
    )
    return {
        "JOBS_TABLE": names["Jobs"],
        "IDEMPOTENCY_TABLE": names["Idempotency"],
        "EVENTS_TABLE": names["Events"],
        "WEBHOOKS_TABLE": names["Webhooks"],
        "MARKETPLACE_TABLE": names["Marketplace"],
        "LANES_URL": url.removesuffix(lane),
        "WEBSOCKET_URL": "http://127.0.0.1:9",
        "EVENT_BUS": "spinneret-test",
        "DEEP_CRAWL_MACHINE": machine["stateMachineArn"],
    }


def _stored(tables: Tables, **given: Any) -> Job:
    begun = utc_now() - timedelta(hours=3)
    job = factories.job(
        id=f"job_{uuid4().hex}",
        kind=PUBLISH,
        payload=PAYLOAD,
        domain="ebay",
        created_at=begun,
        updated_at=begun,
        due_at=begun,
        **given,
    )
    submit(job_store(tables), job)
    return job


def test_jobs_that_expire_or_lose_their_last_lease_are_counted(
    tables: Tables, env: Mapping[str, str]
) -> None:
    ended = utc_now() - timedelta(hours=1)
    expired = _stored(tables, expires_at=ended)
    lost = _stored(tables, attempts=bounds.JOB_MAX_ATTEMPTS - 1)
    store = job_store(tables)
    store.claim(lost.ref, "one", ended - timedelta(minutes=1), ended)
    sweeper.of(env)()
    statuses = {ref: found.status for ref in (expired.ref, lost.ref) if (found := store.get(ref))}
    assert statuses == {expired.ref: JobStatus.EXPIRED, lost.ref: JobStatus.FAILED}
    day = utc_now().date().isoformat()
    counts = DynamoActionStatistics(tables.client, tables.names["Marketplace"])
    [counted] = counts.of_day(expired.tenant, day)
    assert (counted.marketplace, counted.action_code) == ("ebay", "publish")
    assert (counted.expired, counted.failed, counted.completed) == (1, 1, 0)

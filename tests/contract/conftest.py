"""Fixtures of the backends: clients, tables and buckets."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from spinneret.jobs.ports import JobStore
from tests.conftest import REGION
from tests.contract.backends import Tables, job_store
from tests.contract.cut_answers import cut_answers
from tests.fakes.jobs import FakeJobStore
from tests.tables import create_tables, own_tables


@pytest.fixture
def tenant() -> str:
    """Return a tenant for this test only: tests share the tables and indexes of a real backend."""
    return f"t{uuid4().hex[:16]}"


@pytest.fixture(scope="session")
def moto_session() -> boto3.Session:
    """Provide the session of moto's clients, so that each client is created only once."""
    return boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )


@pytest.fixture(scope="session")
def moto_client(moto_session: boto3.Session) -> Callable[[str], Any]:
    """Provide a client factory: `moto_client("sqs")` returns a client.

    `resource:dynamodb` returns a DynamoDB client that takes plain Python values.
    """

    @cache
    def make(service: str) -> Any:
        kind, _, name = service.rpartition(":")
        made: Any = moto_session.resource(name) if kind else moto_session.client(name)
        return cut_answers(made.meta.client) if kind else made

    return make


@pytest.fixture(scope="module")
def moto(moto_client: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """Emulate AWS in this process, for one thread only.

    The data stay until the session ends, so each test uses its own names, as on the stack.
    """
    aws = mock_aws()
    aws.start(reset=False)
    try:
        with pytest.MonkeyPatch.context() as environ:
            environ.delenv("AWS_ENDPOINT_URL", raising=False)
            yield moto_client
    finally:
        aws.stop(remove_data=False)


@pytest.fixture(scope="session")
def moto_table_names() -> dict[str, str]:
    """Provide a dictionary that the first test with tables fills.

    Creating the tables takes longer than most tests, so all tests share them.
    """
    return {}


@pytest.fixture
def moto_tables(moto: Callable[[str], Any], moto_table_names: dict[str, str]) -> Iterator[Tables]:
    """Provide empty tables: moto copies and scans whole tables, so rows make it slow."""
    client = moto("resource:dynamodb")
    if not moto_table_names:
        moto_table_names.update(create_tables(client))
    yield Tables(client, moto_table_names)
    for each in dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables.values():
        each.items.clear()


@pytest.fixture(scope="session")
def stack_tables(aws: Any) -> Iterator[Tables]:
    """Provide tables on DynamoDB Local for all tests of this run."""
    client = cut_answers(aws.dynamodb())
    with own_tables(client) as names:
        yield Tables(client, names)


@pytest.fixture
def tables(backend: str, request: pytest.FixtureRequest) -> Tables | None:
    """Provide the tables of the backend; None for the fake."""
    if backend == "fake":
        return None
    found: Tables = request.getfixturevalue(f"{backend}_tables")
    return found


@pytest.fixture
def client_of(backend: str, request: pytest.FixtureRequest) -> Callable[[str], Any] | None:
    """Provide the client factory of the backend: `client_of("sqs")`; None for the fake."""
    if backend == "fake":
        return None
    made: Callable[[str], Any] = request.getfixturevalue("moto" if backend == "moto" else "aws")
    return made


@pytest.fixture
def bucket(client_of: Callable[[str], Any] | None) -> Iterator[str | None]:
    """Provide an empty bucket that only this test uses; None for the fake."""
    if client_of is None:
        yield None
        return
    client, name = client_of("s3"), f"contract-{uuid4().hex}"
    client.create_bucket(Bucket=name)
    yield name
    for each in client.list_objects_v2(Bucket=name).get("Contents", []):
        client.delete_object(Bucket=name, Key=each["Key"])
    client.delete_bucket(Bucket=name)


@pytest.fixture
def store(tables: Tables | None) -> JobStore:
    """Provide a job store of the backend."""
    if tables is None:
        return FakeJobStore()
    return job_store(tables)

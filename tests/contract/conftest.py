"""What the backends stand on: clients and tables."""

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
    """A tenant of this test alone: tables and indexes of a real backend are shared."""
    return f"t{uuid4().hex[:16]}"


@pytest.fixture(scope="session")
def moto_session() -> boto3.Session:
    """Its clients are made once; what they talk to is new for every test."""
    return boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )


@pytest.fixture(scope="session")
def moto_client(moto_session: boto3.Session) -> Callable[[str], Any]:
    """Makes clients: `moto_client("sqs")`; `resource:dynamodb` takes plain Python values."""

    @cache
    def make(service: str) -> Any:
        kind, _, name = service.rpartition(":")
        made: Any = moto_session.resource(name) if kind else moto_session.client(name)
        return cut_answers(made.meta.client) if kind else made

    return make


@pytest.fixture(scope="module")
def moto(moto_client: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """AWS in this process, for one thread only.

    It keeps what it holds until the session ends: tests give names of their own, as on the stack.
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
    """Filled by the first test with tables: making them costs more than most tests."""
    return {}


@pytest.fixture
def moto_tables(moto: Callable[[str], Any], moto_table_names: dict[str, str]) -> Iterator[Tables]:
    """Tables that are empty at first: moto copies and searches whole tables."""
    client = moto("resource:dynamodb")
    if not moto_table_names:
        moto_table_names.update(create_tables(client))
    yield Tables(client, moto_table_names)
    for each in dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables.values():
        each.items.clear()


@pytest.fixture(scope="session")
def stack_tables(aws: Any) -> Iterator[Tables]:
    """Tables on DynamoDB Local for all tests of this run."""
    client = cut_answers(aws.dynamodb())
    with own_tables(client) as names:
        yield Tables(client, names)


@pytest.fixture
def tables(backend: str, request: pytest.FixtureRequest) -> Tables | None:
    """The tables of the backend; None for the fake."""
    if backend == "fake":
        return None
    found: Tables = request.getfixturevalue(f"{backend}_tables")
    return found


@pytest.fixture
def client_of(backend: str, request: pytest.FixtureRequest) -> Callable[[str], Any] | None:
    """Makes clients of the backend's AWS: `client_of("sqs")`; None for the fake."""
    if backend == "fake":
        return None
    made: Callable[[str], Any] = request.getfixturevalue("moto" if backend == "moto" else "aws")
    return made


@pytest.fixture
def bucket(client_of: Callable[[str], Any] | None) -> Iterator[str | None]:
    """An empty bucket of this test alone; None for the fake."""
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
    """A job store of the backend."""
    if tables is None:
        return FakeJobStore()
    return job_store(tables)

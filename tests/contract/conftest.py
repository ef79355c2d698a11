"""The backends that a port's suite runs against.

`fake` is what unit tests use, `moto` emulates AWS in this process, `stack` is a running instance.
A suite that passes on all of them says that the fake may be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from tests.tables import create_tables, delete_tables

REGION = "us-east-1"
FAKE = pytest.param("fake", marks=pytest.mark.quick)
MOTO = pytest.param("moto", marks=pytest.mark.quick)
STACK = pytest.param("stack", marks=pytest.mark.stack)
OF_AWS = pytest.mark.parametrize("backend", [FAKE, MOTO, STACK])
OF_ANY = pytest.mark.parametrize("backend", [FAKE, STACK])


@dataclass(frozen=True)
class Tables:
    """A client of plain Python values and the tables of the template by logical id."""

    client: Any
    names: dict[str, str]


@pytest.fixture
def tenant() -> str:
    """A tenant of this test alone: tables and indexes of a real backend are shared."""
    return f"t{uuid4().hex[:16]}"


@pytest.fixture
def moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    """AWS in this process; for one thread only."""
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield boto3.Session(
            aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
        )


@pytest.fixture
def moto_tables(moto: boto3.Session) -> Tables:
    """Tables that are gone with the test."""
    client = moto.resource("dynamodb").meta.client
    return Tables(client, create_tables(client))


@pytest.fixture(scope="session")
def stack_tables(aws: Any) -> Iterator[Tables]:
    """Tables on DynamoDB Local for all tests of this run."""
    client = aws.dynamodb()
    names = create_tables(client)
    yield Tables(client, names)
    delete_tables(client, names)


@pytest.fixture
def tables(backend: str, request: pytest.FixtureRequest) -> Tables | None:
    """The tables of the backend; None for the fake."""
    if backend == "fake":
        return None
    found: Tables = request.getfixturevalue(f"{backend}_tables")
    return found


@pytest.fixture
def client_of(backend: str, request: pytest.FixtureRequest) -> Any:
    """Makes clients of the backend's AWS: `client_of("sqs")`; None for the fake."""
    match backend:
        case "moto":
            return request.getfixturevalue("moto").client
        case "stack":
            return request.getfixturevalue("aws")
    return None

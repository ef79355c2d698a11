"""Contract tests of audit object stores: the fake, moto, and S3 of the stack."""

import io
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from spinneret.audits.ports import AuditObjectStore
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.retention.ports import ObjectStore
from spinneret.retention.s3 import S3ObjectStore
from tests.contract.backends import OF_AWS
from tests.fakes.audits import FakeAuditObjectStore

pytestmark = OF_AWS


@pytest.fixture
def bodies(client_of: Callable[[str], Any] | None, bucket: str | None) -> AuditObjectStore:
    if client_of is None or bucket is None:
        return FakeAuditObjectStore()
    return S3AuditObjectStore(client_of("s3"), bucket)


@pytest.fixture
def objects(
    bodies: AuditObjectStore, client_of: Callable[[str], Any] | None, bucket: str | None
) -> ObjectStore:
    if client_of is None or bucket is None:
        assert isinstance(bodies, FakeAuditObjectStore)
        return bodies
    return S3ObjectStore(client_of("s3"), bucket)


def key(name: str = "page") -> str:
    return f"T/acme/audits/{uuid4().hex}/{name}"


def test_an_object_is_written_replaced_and_read(bodies: AuditObjectStore) -> None:
    name = key()
    assert bodies.get(name) is None
    bodies.put(name, b"one", "application/gzip")
    bodies.put(name, io.BytesIO(b"two"), "application/gzip")
    assert bodies.get(name) == b"two"


def test_objects_are_deleted_together_and_one_that_is_not_there_counts(
    bodies: AuditObjectStore, objects: ObjectStore
) -> None:
    names = [key(str(number)) for number in range(3)]
    for name in names[:2]:
        bodies.put(name, b"body", "text/plain")
    assert objects.delete(names) == {}
    assert [bodies.get(name) for name in names] == [None] * 3


def test_a_url_names_the_object_and_its_file(bodies: AuditObjectStore) -> None:
    name = key("report-html.html")
    bodies.put(name, b"<p>report", "text/html; charset=utf-8")
    url = bodies.url(
        name, file_name="job_1.html", media_type="text/html; charset=utf-8", seconds=60
    )
    assert name in url
    assert "job_1.html" in url

"""Contract tests of media stores: the fake, moto, and S3 of the stack."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from spinneret.jobs.models import JobRef
from spinneret.media.ports import MediaStore
from spinneret.media.s3 import S3MediaStore
from tests.contract.backends import OF_AWS
from tests.fakes.media import FakeMediaStore


@pytest.fixture
def media(client_of: Callable[[str], Any] | None, bucket: str | None) -> MediaStore:
    if client_of is None or bucket is None:
        return FakeMediaStore()
    return S3MediaStore(client_of("s3"), bucket)


@OF_AWS
def test_a_job_has_one_object(media: MediaStore, tenant: str) -> None:
    ref = JobRef(tenant=tenant, job_id="job_1")
    first = media.keep(ref, "image/png", b"1")
    assert media.keep(ref, "image/png", b"2") == first
    assert media.keep(JobRef(tenant=tenant, job_id="job_2"), "image/png", b"3") != first


@OF_AWS
def test_scripts_are_read_as_they_were_stored(media: MediaStore, tenant: str) -> None:
    sources = ("document.title", "'ü\\n\u2028'")
    media.keep_scripts(tenant, "scripts_1", sources)
    assert media.scripts(tenant, "scripts_1") == sources
    assert media.scripts(tenant, "scripts_2") is None
    assert media.scripts(f"{tenant}x", "scripts_1") is None


@pytest.mark.stack
@pytest.mark.parametrize("backend", ["stack"])
def test_a_link_serves_the_object_with_its_type(media: MediaStore, tenant: str) -> None:
    key = media.keep(JobRef(tenant=tenant, job_id="job_1"), "application/pdf", b"%PDF-1.4")
    answer = httpx.get(media.link(key, 60), trust_env=False)
    assert (answer.content, answer.headers["content-type"]) == (b"%PDF-1.4", "application/pdf")

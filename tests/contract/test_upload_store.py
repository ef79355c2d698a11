"""Contract tests of upload stores: the fake, moto, and S3 of the stack.

Only the stack tests that S3 rejects uploads that break the rules of their form. Its emulator reads
the form's policy but doesn't check the signature.
"""

from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from spinneret.access import limits
from spinneret.access.uploads.ports import UploadStore
from spinneret.access.uploads.s3 import S3UploadStore
from spinneret.kernel.errors import BodyTooLarge
from tests.contract.backends import OF_AWS
from tests.fakes.uploads import FakeUploadStore

Post = Callable[[str, Mapping[str, str], bytes], Any]
BODY = b'{"url": "https://site.example/\xc3\xbc"}'


@pytest.fixture
def uploads(client_of: Callable[[str], Any] | None, bucket: str | None) -> UploadStore:
    if client_of is None or bucket is None:
        return FakeUploadStore()
    return S3UploadStore(client_of("s3"), bucket)


@pytest.fixture
def post(
    backend: str,
    uploads: UploadStore,
    client_of: Callable[[str], Any] | None,
    bucket: str | None,
) -> Post:
    """Provide a function that posts a form as a client does.

    moto has no server that accepts forms, so there the function puts the object.
    """
    if isinstance(uploads, FakeUploadStore):
        return lambda _, fields, body: uploads.post(fields, body)
    if backend == "moto" and client_of is not None:
        put = client_of("s3").put_object
        return lambda _, fields, body: put(Bucket=bucket, Key=fields["key"], Body=body)
    return posted


def posted(url: str, fields: Mapping[str, str], body: bytes) -> int:
    """Post a form as a browser would, and return the status."""
    files = {"file": ("body.json", body)}
    return httpx.post(url, data=dict(fields), files=files, timeout=30, trust_env=False).status_code


@OF_AWS
def test_what_is_posted_is_read(uploads: UploadStore, tenant: str, post: Post) -> None:
    post(*uploads.form(tenant, "upl_1", seconds=60), BODY)
    assert uploads.read(tenant, "upl_1") == BODY


@OF_AWS
def test_what_was_not_posted_is_not_there(uploads: UploadStore, tenant: str) -> None:
    uploads.form(tenant, "upl_1", seconds=60)
    assert uploads.read(tenant, "upl_1") is None


@OF_AWS
def test_uploads_of_others_are_others(uploads: UploadStore, tenant: str, post: Post) -> None:
    post(*uploads.form(tenant, "upl_1", seconds=60), BODY)
    assert uploads.read(f"{tenant}x", "upl_1") is None
    assert uploads.read(tenant, "upl_2") is None


@OF_AWS
def test_an_upload_may_be_as_large_as_the_limit(
    uploads: UploadStore, tenant: str, post: Post
) -> None:
    body = b" " * limits.UPLOAD_MAX_BYTES
    post(*uploads.form(tenant, "upl_1", seconds=60), body)
    assert uploads.read(tenant, "upl_1") == body


# covers T-06
@pytest.mark.parametrize("backend", ["fake", "moto"])
def test_what_got_larger_all_the_same_is_not_read(
    uploads: UploadStore, tenant: str, post: Post
) -> None:
    post(*uploads.form(tenant, "upl_1", seconds=60), b" " * (limits.UPLOAD_MAX_BYTES + 1))
    with pytest.raises(BodyTooLarge):
        uploads.read(tenant, "upl_1")


@pytest.mark.stack
@pytest.mark.parametrize("backend", ["stack"])
@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({}, limits.UPLOAD_MAX_BYTES + 1),
        ({"key": "T/another/upl_1"}, 10),
        ({"Content-Type": "text/html"}, 10),
    ],
    ids=["larger", "elsewhere", "something else"],
)
def test_a_form_takes_nothing_else(
    uploads: UploadStore, tenant: str, changes: dict[str, str], size: int
) -> None:
    url, fields = uploads.form(tenant, "upl_1", seconds=60)
    assert 400 <= posted(url, {**fields, **changes}, b" " * size) < 500
    assert uploads.read(tenant, "upl_1") is None

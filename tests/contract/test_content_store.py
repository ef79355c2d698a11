"""What every content store holds: the fake, moto, and S3 of the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from spinneret.documents.ports import ContentStore
from spinneret.documents.s3 import S3ContentStore
from tests.contract.backends import OF_AWS
from tests.fakes.documents import FakeContentStore

pytestmark = OF_AWS


@pytest.fixture
def contents(client_of: Callable[[str], Any] | None) -> Iterator[ContentStore]:
    if client_of is None:
        yield FakeContentStore()
        return
    client, bucket = client_of("s3"), f"contract-{uuid4().hex}"
    client.create_bucket(Bucket=bucket)
    yield S3ContentStore(client, bucket)
    for each in client.list_objects_v2(Bucket=bucket).get("Contents", []):
        client.delete_object(Bucket=bucket, Key=each["Key"])
    client.delete_bucket(Bucket=bucket)


TEXTS = {
    "empty": "",
    "plain": "Spiders weave silk.",
    "unicode": "Größe Ελλάδα 日本語 🕷🕸 e\u0301 \u0000 \ue000",
    "line ends": "a\r\nb\rc\n\u2028d",
    "large": "Spinnfäden 🕸\n" * 100_000,
}


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_text_is_read_back_as_it_was_stored(
    contents: ContentStore, tenant: str, name: str
) -> None:
    assert contents.get(contents.put(tenant, TEXTS[name])) == TEXTS[name]


def test_the_same_text_has_the_same_key(contents: ContentStore, tenant: str) -> None:
    assert contents.put(tenant, "silk") == contents.put(tenant, "silk")
    assert contents.get(contents.put(tenant, "silk")) == "silk"


def test_other_texts_and_other_tenants_have_other_keys(contents: ContentStore, tenant: str) -> None:
    owners = [(tenant, "silk"), (tenant, "silk "), (f"{tenant}x", "silk")]
    keys = {contents.put(*each): each for each in owners}
    assert len(keys) == 3
    assert {key: contents.get(key) for key in keys} == {key: keys[key][1] for key in keys}

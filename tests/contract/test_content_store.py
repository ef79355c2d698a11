"""Contract tests of content stores: the fake, moto, and S3 of the stack."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spinneret.content.documents.models import StoredBody
from spinneret.content.documents.ports import ContentStore
from spinneret.content.documents.rules import parts_prefix
from spinneret.content.documents.s3 import S3ContentStore
from tests.contract.backends import OF_AWS
from tests.fakes.documents import FakeContentStore

pytestmark = OF_AWS


@pytest.fixture
def contents(client_of: Callable[[str], Any] | None, bucket: str | None) -> ContentStore:
    if client_of is None or bucket is None:
        return FakeContentStore()
    return S3ContentStore(client_of("s3"), bucket)


@pytest.fixture
def hold(
    client_of: Callable[[str], Any] | None, bucket: str | None, contents: Any
) -> Callable[[str], None]:
    """Provide a function that stores an object under a key, as another store of the bucket does."""
    if client_of is None or bucket is None:
        return lambda key: contents.hold(key, "{}")
    s3 = client_of("s3")
    return lambda key: s3.put_object(Bucket=bucket, Key=key, Body=b"{}")


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


def test_a_text_is_read_only_up_to_a_size(contents: ContentStore, tenant: str) -> None:
    key = contents.put(tenant, "größe")
    assert (contents.get_small(key, 7), contents.get_small(key, 6)) == ("größe", None)
    with pytest.raises(KeyError):
        contents.get_small(f"{key}x", 7)


def test_the_same_text_has_the_same_key(contents: ContentStore, tenant: str) -> None:
    assert contents.put(tenant, "silk") == contents.put(tenant, "silk")
    assert contents.get(contents.put(tenant, "silk")) == "silk"


def test_other_texts_and_other_tenants_have_other_keys(contents: ContentStore, tenant: str) -> None:
    owners = [(tenant, "silk"), (tenant, "silk "), (f"{tenant}x", "silk")]
    keys = {contents.put(*each): each for each in owners}
    assert len(keys) == 3
    assert {key: contents.get(key) for key in keys} == {key: keys[key][1] for key in keys}


def test_all_texts_and_nothing_else_are_listed_with_their_tenants(
    contents: ContentStore, hold: Callable[[str], None], tenant: str
) -> None:
    made = {contents.put(tenant, f"silk {n}") for n in range(5)}
    contents.put_upload(tenant, b"silk")
    # Audits and crawls store such objects in the same bucket.
    for key in ("audits/audit_1/1/report.json", "content/notes.md", f"parts/{'0' * 64}.json"):
        hold(f"T/{tenant}/{key}")
    hold(f"{parts_prefix(tenant, 'doc_1')}{'0' * 64}.json")
    found: list[StoredBody] = []
    after: str | None = None
    while True:
        page = contents.stored(after, 2)
        found += [each for each in page.items if each.tenant == tenant]
        after = page.after
        if after is None:
            break
    assert sorted(each.key for each in found) == sorted(made)
    contents.remove(found[0].key, found[0].stored_at)
    assert contents.exists(found[0].key)
    contents.remove(found[0].key, found[0].stored_at + timedelta(seconds=2))
    assert not contents.exists(found[0].key)

"""Contract tests of stores of crawled pages: the fake, moto, and S3 of the stack."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spinneret.content.documents.s3 import S3ContentStore
from spinneret.crawl.ports import PartStore
from spinneret.crawl.s3_parts import S3PartStore
from tests.contract.backends import OF_AWS
from tests.fakes.documents import FakeContentStore
from tests.fakes.page_parts import FakePartStore

pytestmark = OF_AWS


@pytest.fixture
def contents(client_of: Callable[[str], Any] | None, bucket: str | None) -> Any:
    if client_of is None or bucket is None:
        return FakeContentStore()
    return S3ContentStore(client_of("s3"), bucket)


@pytest.fixture
def pages(client_of: Callable[[str], Any] | None, bucket: str | None, contents: Any) -> PartStore:
    if client_of is None or bucket is None:
        return FakePartStore(contents)
    return S3PartStore(client_of("s3"), bucket)


def test_parts_are_read_back_under_a_key_of_their_own(pages: PartStore, tenant: str) -> None:
    key = pages.keep(tenant, "doc_1", '{"links": "Ελλάδα 🕸"}')
    assert pages.read(key) == '{"links": "Ελλάδα 🕸"}'
    assert pages.keep(tenant, "doc_1", '{"links": "Ελλάδα 🕸"}') == key
    owners = [(tenant, "doc_1"), (tenant, "doc_2"), (f"{tenant}-2", "doc_1")]
    assert len({pages.keep(*each, "{}") for each in owners} | {key}) == 4


def test_parts_go_with_their_document_alone(pages: PartStore, contents: Any, tenant: str) -> None:
    gone = [pages.keep(tenant, "doc_1", text) for text in ("{}", "[]", "{}")]
    kept = [
        pages.keep(tenant, "doc_11", "{}"),
        pages.keep(f"{tenant}x", "doc_1", "{}"),
        contents.put(tenant, "{}"),
    ]
    contents.remove_parts(tenant, "doc_1", datetime(2020, 1, 1, tzinfo=UTC))
    assert [pages.read(each) for each in gone] == ["{}", "[]", "{}"]
    soon = datetime.now(UTC) + timedelta(hours=1)
    contents.remove_parts(tenant, "doc_1", soon)
    contents.remove_parts(tenant, "doc_without_any", soon)
    assert [pages.read(each) for each in gone] == [None] * 3
    assert [pages.read(each) for each in kept] == ["{}"] * 3


def test_the_text_of_a_document_is_read_too(pages: PartStore, contents: Any, tenant: str) -> None:
    assert pages.read(contents.put(tenant, "Silk.")) == "Silk."


def test_what_is_not_there_is_none(pages: PartStore, tenant: str) -> None:
    assert pages.read(f"T/{tenant}/content/gone.md") is None


def test_a_link_leads_to_the_object_for_a_while(pages: PartStore, tenant: str) -> None:
    key = pages.keep(tenant, "doc_1", "{}")
    link = pages.link(key, 60)
    assert key in link
    assert "Expires" in link


def test_all_parts_are_listed_with_their_documents(
    pages: PartStore, contents: Any, tenant: str
) -> None:
    owners = [(tenant, "doc_1"), (tenant, "doc_2"), (f"{tenant}x", "doc_1")]
    made = {pages.keep(*each, "{}"): each for each in owners}
    contents.put(tenant, "silk")
    found: dict[str, tuple[str, str]] = {}
    after = None
    while True:
        page = contents.stored_parts(after, 1)
        found |= {each.key: (each.tenant, each.document_id) for each in page.items}
        after = page.after
        if after is None:
            break
    assert {key: owner for key, owner in found.items() if owner in owners} == made
    [first] = [key for key, owner in made.items() if owner == owners[0]]
    contents.remove(first, datetime.now(UTC) + timedelta(hours=1))
    assert pages.read(first) is None

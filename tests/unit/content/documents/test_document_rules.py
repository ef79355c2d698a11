"""Identity and versions of documents."""

import json

import pytest

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.items import DOCUMENTS
from spinneret.content.documents.rules import content_hash, counted, document_id, version_name
from spinneret.content.extraction.models import Hyperlink, Metadata
from tests import factories

URL = "https://site.example/"


def test_a_page_is_one_document_of_its_tenant() -> None:
    ids = {
        document_id("acme", URL),
        document_id("acme", f"{URL}a"),
        document_id("other", URL),
        document_id("acm", f"e\n{URL}"),
    }
    assert len(ids) == 4
    assert document_id("acme", URL) == document_id("acme", URL)
    assert all(each.startswith("doc_") and len(each) == 36 for each in ids)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"metadata": Metadata(author="x")}, True),
        ({"hyperlinks": (Hyperlink(url="https://a.example/"),)}, True),
        ({"language": "de"}, True),
        ({"title": "Other"}, False),
        ({"title": None}, False),
        ({"title": ""}, False),
        ({"markdown": "Other"}, False),
    ],
)
def test_contents_are_equal_when_their_chunks_would_be(
    change: dict[str, object], same: bool
) -> None:
    values = {"markdown": "Text", "title": "Title"}
    one, other = factories.content(**values), factories.content(**values | change)
    assert (content_hash(one) == content_hash(other)) is same


def test_versions_sort_by_sequence_and_differ_by_content() -> None:
    names = [version_name(n, digest * 64) for n in (1, 2, 10, 999_999) for digest in "ab"]
    assert names == sorted(names)
    assert len(set(names)) == len(names)


def test_tokens_of_addresses_do_not_count() -> None:
    markdown = "[a](https://b.example/c) d [e](https://f.example/)"
    tokens = [TokenSpan(start=at, end=at + 1) for at in range(len(markdown))]

    kept = counted(tokens, markdown)

    assert "".join(markdown[token.start : token.end] for token in kept) == "[a d [e"


def test_a_row_from_before_the_date_was_renamed_is_read() -> None:
    document = factories.document(metadata=Metadata(publish_date="2026-01-01"))
    item = DOCUMENTS.encode(document)
    metadata = json.loads(item["metadata"])
    metadata["published_at"] = metadata.pop("publish_date")
    assert DOCUMENTS.decode({**item, "metadata": json.dumps(metadata)}) == document

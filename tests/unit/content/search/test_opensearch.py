"""Reading marks, and naming indexes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.documents.models import EmbedderInfo
from spinneret.content.search.opensearch import index_name, ranges_of

OPEN, CLOSE = "\ufdd0", "\ufdd1"
PLAIN = st.text(st.characters(exclude_characters=OPEN + CLOSE, exclude_categories=["Cs"]))


@given(st.lists(st.tuples(PLAIN, PLAIN)), PLAIN)
def test_ranges_are_those_of_the_unmarked_text(parts: list[tuple[str, str]], rest: str) -> None:
    text = "".join(plain + marked for plain, marked in parts) + rest
    marked = "".join(plain + OPEN + marked + CLOSE for plain, marked in parts) + rest
    assert [text[a:b] for a, b in ranges_of(marked)] == [each for _, each in parts]


@pytest.mark.parametrize(
    ("model", "dimension", "name"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", 384, "all-minilm-l6-v2-384"),
        ("BAAI/bge_large.en", 1024, "bge-large-en-1024"),
        ("/x/", 3, "x-3"),
    ],
)
def test_an_index_is_named_by_model_and_dimension(model: str, dimension: int, name: str) -> None:
    info = EmbedderInfo(model_id=model, dimension=dimension, max_input_tokens=512, max_batch=32)
    found = index_name(info)
    assert found.startswith("chunks-")
    assert found.endswith(name)
    assert found == found.lower()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")

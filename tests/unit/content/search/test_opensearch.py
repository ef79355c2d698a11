"""Parsing of highlight marks, names of indexes, and bodies of queries."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import DocumentSource, EmbedderInfo
from spinneret.content.search.models import BOTH, Filters, IndexQuery, ParsedQuery
from spinneret.content.search.opensearch_mapping import names_of
from spinneret.content.search.opensearch_queries import leg_bodies, ranges_of
from tests.fakes.time import START

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
    found = names_of(info).base
    assert found.startswith("chunks-")
    assert found.endswith(name)
    assert found == found.lower()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


# covers T-04
def test_the_tenant_is_the_last_filter_of_every_leg_and_user_text_is_only_matched() -> None:
    text = 'tenant:other OR * "spun silk" {"match_all": {}}'
    filters = Filters(
        collection_ids=("col_1",),
        tag_ids=("tag_1",),
        domains=("a.example",),
        date_from=START,
        date_to=START,
        sources=(DocumentSource.UPLOAD,),
        languages=("en",),
        content_types=(ChunkType.CODE,),
    )
    wanted = IndexQuery(
        tenant="acme", words=ParsedQuery.of(text), vector=(1.0,), legs=BOTH, filters=filters
    )
    for body in leg_bodies(wanted, 10).values():
        query = body["query"]
        scope = query["bool"] if "bool" in query else query["knn"]["vector"]["filter"]["bool"]
        assert len(scope["filter"]) == 8
        assert scope["filter"][-1] == {"term": {"tenant": "acme"}}
        assert body["track_total_hits"] is False  # OpenSearch can't skip hits that it counts
        spelled = json.dumps(body)
        assert not {"query_string", "script", "wildcard", "regexp"} & set(
            re.findall(r"\w+", spelled)
        )


@pytest.mark.parametrize("query", ['"', '""', '" "'])
def test_a_query_without_a_word_matches_nothing(query: str) -> None:
    wanted = IndexQuery(
        tenant="acme", words=ParsedQuery.of(query), vector=None, legs=BOTH, filters=Filters()
    )
    [body] = leg_bodies(wanted, 10).values()
    assert body["query"]["bool"]["must"] == [{"match_none": {}}]


@pytest.mark.parametrize(
    ("query", "text", "phrases", "loose"),
    [
        ("spun silk", "spun silk", (), "spun silk"),
        ('"spun silk"', "spun silk", ("spun silk",), ""),
        ('how is "spun silk" made', "how is spun silk made", ("spun silk",), "how is made"),
        ('a "b c" d "e"', "a b c d e", ("b c", "e"), "a d"),
        ('5" pipes', "5 pipes", (), "5 pipes"),
        ('"" silk', "silk", (), "silk"),
        ('" ! " silk', "! silk", (), "! silk"),
    ],
)
def test_words_in_quotation_marks_are_phrases(
    query: str, text: str, phrases: tuple[str, ...], loose: str
) -> None:
    assert ParsedQuery.of(query) == ParsedQuery(text=text, phrases=phrases, loose=loose)

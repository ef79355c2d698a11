"""Request bodies of OpenSearch searches; pure.

Each body starts with the caller's options. `_owned` adds the tenant last, so that no option can
follow it. User text is only used in analysed queries (`match` and similar), never in `query_string`
or a script.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spinneret.content.chunking.models import ChunkType
from spinneret.content.search.models import (
    Filters,
    FoundChunk,
    IndexQuery,
    Leg,
    LegCandidate,
    ParsedQuery,
)
from spinneret.content.search.opensearch_mapping import COPIES
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso

Body = dict[str, Any]

# Matches are marked with noncharacters (Unicode standard, section 23.7). Extraction removes them
# from every text, so the ranges are unambiguous for any text.
_OPEN: Final = "\ufdd0"
_CLOSE: Final = "\ufdd1"
_MARK: Final = re.compile(f"[{_OPEN}{_CLOSE}]")
_TIMEOUT: Final = f"{int(bounds.SEARCH_SECONDS)}s"
_SHOWN: Final = [
    "url", "title", "text", "section", "type", "index", "start", "end", "token_count",
]  # fmt: skip
# Equal scores are frequent, and Lucene orders them by its internal numbers, which another index of
# the same chunks assigns otherwise. The score stays first, so that Lucene still skips.
_ORDER: Final = [{"_score": "desc"}, {"version_id": "asc"}, {"index": "asc"}]
_NEIGHBOURS: Final = 4
"""Nearest vectors searched for each one in the window. The graph is approximate: with 1, rebuilt
indexes returned other windows for 5 of 24 queries; with 4, for none (docs/benchmarks.md)."""
_FIELDS: Final = ["title^2", "section^1.5", "text"]
"""A word in a title says more about a chunk than one in its text."""
_PAIRS_BOOST: Final = 0.25
"""Weight of two neighbouring words that a chunk has in this order. With 1, a paraphrase loses to
any chunk that shares two words in a row (docs/benchmarks.md, "Retrieval")."""


def leg_bodies(wanted: IndexQuery, window: int) -> dict[Leg, Body]:
    """Return the search body of each possible leg."""
    bodies: dict[Leg, Body] = {}
    for leg in wanted.legs:
        if leg is Leg.KEYWORD:
            bodies[leg] = _ranked(_keyword_query(wanted), window)
        elif wanted.vector is not None:
            bodies[leg] = _ranked(_vector_query(wanted, wanted.vector, window), window)
    return bodies


def fetch_body(tenant: str, chunk_ids: Sequence[str], words: ParsedQuery | None) -> Body:
    """Return the search body for chunks' data, with matches of `words` marked."""
    body: Body = {
        "size": len(chunk_ids) * COPIES,
        "sort": [{"written_at": "asc"}],  # of two copies, the later one is read last and wins
        "_source": _SHOWN,
        "timeout": _TIMEOUT,
        "query": {"bool": {"filter": _owned([{"ids": {"values": list(chunk_ids)}}], tenant)}},
    }
    if words is not None:
        body["highlight"] = {
            "pre_tags": [_OPEN],
            "post_tags": [_CLOSE],
            "number_of_fragments": 0,
            "fields": {"text": {"highlight_query": {"bool": {"should": _matching(words)}}}},
        }
    return body


def totals_body(tenant: str) -> Body:
    """Return the search body that counts a tenant's chunks and their documents."""
    return {
        "size": 0,
        "track_total_hits": True,
        "timeout": _TIMEOUT,
        "query": {"bool": {"filter": _owned([{"term": {"deleted": False}}], tenant)}},
        "aggs": {"documents": {"cardinality": {"field": "document_id"}}},
    }


def candidate(hit: Mapping[str, Any]) -> LegCandidate:
    """Convert a hit of a leg."""
    [signature] = hit.get("fields", {}).get("signature") or [None]
    return LegCandidate(chunk_id=hit["_id"], score=hit["sort"][0], signature=signature)


def found_chunk(hit: Mapping[str, Any]) -> FoundChunk:
    """Convert a hit of `fetch_body`."""
    source = hit["_source"]
    marked = hit.get("highlight", {}).get("text", [])
    return FoundChunk(
        id=hit["_id"],
        url=source["url"],
        title=source.get("title"),
        text=source["text"],
        section=source.get("section"),
        type=ChunkType(source["type"]),
        index=source["index"],
        start=source["start"],
        end=source["end"],
        token_count=source["token_count"],
        highlights=ranges_of(marked[0]) if marked else (),
    )


def ranges_of(marked: str) -> tuple[tuple[int, int], ...]:
    """Return the character ranges of marked passages in the unmarked text."""
    ranges: list[tuple[int, int]] = []
    start = 0
    for marks_before, mark in enumerate(_MARK.finditer(marked)):
        position = mark.start() - marks_before
        if mark.group() == _OPEN:
            start = position
        else:
            ranges.append((start, position))
    return tuple(ranges)


def _ranked(query: Body, window: int) -> Body:
    return {
        "size": window,
        "sort": _ORDER,
        "_source": False,
        # No response shows the number of matching chunks. Counting would also prevent the index
        # from skipping chunks that can't be among the best (Lucene's block-max WAND).
        "track_total_hits": False,
        "docvalue_fields": ["signature"],
        "timeout": _TIMEOUT,
        "query": query,
    }


def _vector_query(wanted: IndexQuery, vector: Sequence[float], window: int) -> Body:
    scope = _scope(wanted)
    return {
        "knn": {
            "vector": {"vector": list(vector), "k": _NEIGHBOURS * window, "filter": {"bool": scope}}
        }
    }


def _keyword_query(wanted: IndexQuery) -> Body:
    words = wanted.words
    must = [_loose(words.loose)] if words.loose else []
    must += _phrases(words)
    # A query of quotation marks only has no words; without a clause it would match all chunks.
    query: Body = {"must": must or [{"match_none": {}}], **_scope(wanted)}
    if words.loose:
        # Neighbours of the query that are neighbours in the text. An index that was made without
        # the field has none.
        pairs = {"query": words.loose, "boost": _PAIRS_BOOST}
        query["should"] = [{"match": {"text.shingles": pairs}}]
    return {"bool": query}


def _matching(words: ParsedQuery) -> list[Body]:
    return [_loose(words.loose or words.text), *_phrases(words)]


def _loose(text: str) -> Body:
    # Term by term over all fields, like BM25F: a word counts for the field that contains it.
    return {"multi_match": {"query": text, "type": "cross_fields", "fields": _FIELDS}}


def _phrases(words: ParsedQuery) -> list[Body]:
    return [
        {"multi_match": {"query": phrase, "type": "phrase", "fields": _FIELDS}}
        for phrase in words.phrases
    ]


def _scope(wanted: IndexQuery) -> Body:
    """Return the clauses of a bool query that restrict a search."""
    hidden: list[Body] = [{"term": {"deleted": True}}]
    if wanted.left_out:
        hidden.append({"terms": {"version_id": sorted(wanted.left_out)}})
    return {"must_not": hidden, "filter": _owned(_filters(wanted.filters), wanted.tenant)}


def _filters(filters: Filters) -> list[Body]:
    among: dict[str, Sequence[str]] = {
        "collection_id": filters.collection_ids,
        "tag_ids": filters.tag_ids,
        "domain": filters.domains,
        "source": filters.sources,
        "language": filters.languages,
        "type": filters.content_types,
    }
    clauses: list[Body] = [
        {"terms": {field: [str(each) for each in values]}}
        for field, values in among.items()
        if values
    ]
    between = {
        name: to_iso(moment)
        for name, moment in (("gte", filters.date_from), ("lte", filters.date_to))
        if moment is not None
    }
    if between:
        clauses.append({"range": {"changed_at": between}})
    return clauses


def _owned(clauses: list[Body], tenant: str) -> list[Body]:
    return [*clauses, {"term": {"tenant": tenant}}]

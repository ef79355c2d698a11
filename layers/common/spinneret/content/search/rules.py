"""What a search decides without asking anybody: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final

from spinneret.content.documents.models import Shown
from spinneret.content.documents.signatures import NEAR_BITS, are_near
from spinneret.content.search.models import Filters, Query, Ranked
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import optional_stamp
from spinneret.kernel.errors import ValidationFailed

# What OpenSearch's standard tokenizer makes a term of (Unicode Annex 29): runs of letters, each
# ideograph and each hiragana by itself.
_TERM: Final = re.compile(r"[\u3040-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|\w+|\S")
_CURSOR: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,4})")


def normalised(text: str) -> str:
    """A query as caches know it: lower case, single blanks."""
    return " ".join(text.lower().split())


def asked(query: Query, model_id: str | None) -> str:
    """Fingerprint of everything that decides a search's ranking; 32 hexadecimal digits."""
    filters = query.filters
    named = {
        "text": normalised(query.text),
        "legs": sorted(query.legs),
        "filters": {
            **{
                name: sorted(values)
                for name, values in asdict(filters).items()
                if isinstance(values, tuple)
            },
            "date_from": optional_stamp(filters.date_from),
            "date_to": optional_stamp(filters.date_to),
        },
        "fusion": query.fusion,
        "rrf_k": query.rrf_k,
        "weights": [query.vector_weight, query.keyword_weight],
        "min_score": query.min_score,
        "reranker": [query.use_reranker, query.rerank_top_n],
        "expand": query.expand,
        "collapse": query.collapse,
        "model": model_id,
    }
    return fingerprint(named)[:32]


def digest(*parts: str | int) -> str:
    """A key of a cache; 32 hexadecimal digits."""
    return fingerprint(list(parts))[:32]


def is_cursor(text: str) -> bool:
    """Whether this can be a place in a ranking."""
    return _CURSOR.fullmatch(text) is not None


def place_of(cursor: str) -> tuple[str, int]:
    """The ranking's digest and how much of it was shown; raises ValidationFailed."""
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise ValidationFailed("not a cursor", details={"fields": [{"field": "cursor"}]})
    return match.group(1), int(match.group(2))


def cursor_at(ranking: str, shown: int) -> str:
    """The inverse of `place_of`."""
    return f"{ranking}.{shown}"


def cut_to_terms(text: str) -> str:
    """The text up to its last term that the index takes."""
    for number, term in enumerate(_TERM.finditer(text), start=1):
        if number == bounds.QUERY_TERMS:
            return text[: term.end()]
    return text


def may_show(ranked: Ranked, shown: Mapping[str, Shown], filters: Filters) -> bool:
    """Whether the document's row, which is the truth, has this version and what is asked for."""
    row = shown.get(ranked.candidate.document_id)
    if row is None or row.version != ranked.candidate.version:
        return False
    if filters.collection_ids and row.collection_id not in filters.collection_ids:
        return False
    return not filters.tag_ids or not set(filters.tag_ids).isdisjoint(row.tag_ids)


class Distinct:
    """Tells whether a chunk says nearly the same as one before it."""

    def __init__(self) -> None:
        self._seen: list[int] = []

    def is_new(self, signature: str | None) -> bool:
        """Whether none before it says nearly the same; a chunk without a signature is new."""
        if signature is None:
            return True
        bits = int(signature, 16)
        if any((bits ^ other).bit_count() <= NEAR_BITS for other in self._seen):
            return False
        self._seen.append(bits)
        return True


def with_similar(shown: Sequence[Ranked], ranking: Sequence[Ranked]) -> list[Ranked]:
    """The hits, each with the number of candidates below it that say nearly the same."""
    found: list[Ranked] = []
    for each in shown:
        below = ranking[ranking.index(each) + 1 :]
        own = each.candidate.signature
        similar = sum(are_near(own, other.candidate.signature) for other in below) if own else 0
        found.append(replace(each, similar=similar))
    return found

"""Pure rules of search."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from enum import Enum, auto
from itertools import islice
from typing import Final

from spinneret.content.documents.models import VersionVisibility
from spinneret.content.documents.signatures import are_near
from spinneret.content.search import limits
from spinneret.content.search.models import Filters, Query, Ranked
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import optional_stamp
from spinneret.kernel.errors import ValidationFailed

# Letter classes of OpenSearch's standard tokenizer (Lucene 9, Unicode Annex 29).
_SINGLE: Final = re.compile(
    # One term each: ideographs and hiragana, with radicals, iteration marks and rare scripts.
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00016fe0-\U00018dff\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
)
_KATAKANA: Final = re.compile(
    "[\u3031-\u3035\u309b\u309c\u30a0-\u30ff\u31f0-\u31ff\u3300-\u3357\uff66-\uff9f]"
)
_UNSPACED: Final = re.compile(
    # Thai, Lao, Myanmar, Khmer, Tai: a run is one term.
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9fe\uaa60-\uaadf]"
)
_CURSOR: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,4})")


def normalised(text: str) -> str:
    """Return a query in lower case with single blanks, as used in cache keys."""
    return " ".join(text.lower().split())


def query_fingerprint(query: Query) -> str:
    """Return a fingerprint of all query fields that affect the ranking; 32 hexadecimal digits."""
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
    }
    return fingerprint(named)[:32]


def digest(*parts: str | int | None) -> str:
    """Return a cache key; 32 hexadecimal digits."""
    return fingerprint(list(parts))[:32]


def named(ranking: bytes) -> str:
    """Return a ranking's name, a hash of its content. A different ranking of an equal search, by
    another reranker or embedder, can't replace it under open cursors."""
    return hashlib.sha256(ranking).hexdigest()[:32]


def place_of(cursor: str) -> tuple[str, int]:
    """Return the ranking's name and the number of entries shown; raise ValidationFailed."""
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise ValidationFailed.of_field("cursor", "not a cursor")
    return match.group(1), int(match.group(2))


def cursor_at(ranking: str, shown: int) -> str:
    """Return a cursor for `place_of`."""
    return f"{ranking}.{shown}"


def cut_to_terms(text: str) -> str:
    """Return the text up to the index's term limit; the count of terms is an upper bound."""
    terms, before = 0, _Kind.NOTHING
    for end, character in enumerate(text):
        kind = _kind_of(character, before)
        if kind in (_Kind.ALONE, _Kind.NOTHING) or kind is not before:
            terms += kind is not _Kind.NOTHING
            if terms > limits.QUERY_TERMS:
                return text[:end]
        before = kind
    return text


class _Kind(Enum):
    """Character class of the tokenizer; adjacent characters of one class form a term."""

    NOTHING = auto()
    ALONE = auto()
    """A term by itself."""
    WORD = auto()
    KATAKANA = auto()
    UNSPACED = auto()


def _kind_of(character: str, before: _Kind) -> _Kind:
    if _SINGLE.match(character):
        return _Kind.ALONE
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cf":
        return before  # belongs to the previous character
    if _KATAKANA.match(character):
        return _Kind.KATAKANA
    if category[0] == "L" and _UNSPACED.match(character):
        return _Kind.UNSPACED
    if category[0] == "L" or category in ("Nd", "Nl", "Pc"):
        return _Kind.WORD
    return _Kind.NOTHING if character.isspace() else _Kind.ALONE


def may_show(ranked: Ranked, shown: Mapping[str, VersionVisibility], filters: Filters) -> bool:
    """Return whether the document's row, which is authoritative, has this version and matches."""
    row = shown.get(ranked.candidate.document_id)
    if row is None or row.version != ranked.candidate.version:
        return False
    if filters.collection_ids and row.collection_id not in filters.collection_ids:
        return False
    return not filters.tag_ids or not set(filters.tag_ids).isdisjoint(row.tag_ids)


class NearDuplicateFilter:
    """Detects chunks that are near-duplicates of earlier ones."""

    def __init__(self) -> None:
        self._seen: list[int] = []

    def is_new(self, signature: str | None) -> bool:
        """Return True and remember the chunk unless it is a near-duplicate of an earlier one. A
        chunk without a signature is always new."""
        if signature is None:
            return True
        bits = int(signature, 16)
        if any(are_near(bits, other) for other in self._seen):
            return False
        self._seen.append(bits)
        return True


def likely_places(entries: Sequence[Ranked], size: int, *, collapse: bool) -> list[int]:
    """Return the places of the first `size` entries that are shown unless outdated."""
    distinct = NearDuplicateFilter()
    new = (
        place
        for place, each in enumerate(entries)
        if not collapse or distinct.is_new(each.candidate.signature)
    )
    return list(islice(new, size))


def with_similar(shown: Sequence[Ranked], ranking: Sequence[Ranked]) -> list[Ranked]:
    """Return the hits, each with the number of lower-ranked near-duplicates."""
    places = {each.candidate.chunk_id: place for place, each in enumerate(ranking)}
    signatures = [each.candidate.signature for each in ranking]
    numbers = [None if each is None else int(each, 16) for each in signatures]
    found: list[Ranked] = []
    for each in shown:
        place = places[each.candidate.chunk_id]
        own, below = numbers[place], [other for other in numbers[place + 1 :] if other is not None]
        similar = 0 if own is None else sum(are_near(own, other) for other in below)
        found.append(replace(each, similar=similar))
    return found

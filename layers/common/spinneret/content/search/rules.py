"""What a search decides without asking anybody: pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from enum import Enum, auto
from typing import Final

from spinneret.content.documents.models import VersionVisibility
from spinneret.content.documents.signatures import NEAR_BITS, are_near
from spinneret.content.search.models import Filters, Query, Ranked
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import optional_stamp
from spinneret.kernel.errors import ValidationFailed

# What OpenSearch's standard tokenizer makes of letters (Lucene 9, Unicode Annex 29).
_SINGLE: Final = re.compile(
    # Each by itself: ideographs and hiragana, with radicals, iteration marks and rare scripts.
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
    """A query as caches know it: lower case, single blanks."""
    return " ".join(text.lower().split())


def query_fingerprint(query: Query) -> str:
    """Fingerprint of everything in a query that decides its ranking; 32 hexadecimal digits."""
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
    """A key of a cache; 32 hexadecimal digits."""
    return fingerprint(list(parts))[:32]


def named(ranking: bytes) -> str:
    """A ranking's name follows from all that it holds: another one of an equal search, as another
    reranker or embedder makes it, doesn't take its place under open cursors."""
    return hashlib.sha256(ranking).hexdigest()[:32]


def is_cursor(text: str) -> bool:
    """Whether this can be a place in a ranking."""
    return _CURSOR.fullmatch(text) is not None


def place_of(cursor: str) -> tuple[str, int]:
    """The ranking's name and how much of it was shown; raises ValidationFailed."""
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise ValidationFailed("not a cursor", details={"fields": [{"field": "cursor"}]})
    return match.group(1), int(match.group(2))


def cursor_at(ranking: str, shown: int) -> str:
    """The inverse of `place_of`."""
    return f"{ranking}.{shown}"


def cut_to_terms(text: str) -> str:
    """The text up to its last term that the index takes; rather too many are counted."""
    terms, before = 0, _Kind.NOTHING
    for end, character in enumerate(text):
        kind = _kind_of(character, before)
        if kind in (_Kind.ALONE, _Kind.NOTHING) or kind is not before:
            terms += kind is not _Kind.NOTHING
            if terms > bounds.QUERY_TERMS:
                return text[:end]
        before = kind
    return text


class _Kind(Enum):
    """What a character is to the tokenizer; neighbours of one kind are one term."""

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
        return before  # belongs to the character before it
    if _KATAKANA.match(character):
        return _Kind.KATAKANA
    if category[0] == "L" and _UNSPACED.match(character):
        return _Kind.UNSPACED
    if category[0] == "L" or category in ("Nd", "Nl", "Pc"):
        return _Kind.WORD
    return _Kind.NOTHING if character.isspace() else _Kind.ALONE


def may_show(ranked: Ranked, shown: Mapping[str, VersionVisibility], filters: Filters) -> bool:
    """Whether the document's row, which is the truth, has this version and what is asked for."""
    row = shown.get(ranked.candidate.document_id)
    if row is None or row.version != ranked.candidate.version:
        return False
    if filters.collection_ids and row.collection_id not in filters.collection_ids:
        return False
    return not filters.tag_ids or not set(filters.tag_ids).isdisjoint(row.tag_ids)


class NearDuplicateFilter:
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

"""Serialisation of rankings and result pages for the cache; pure."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spinneret.content.chunking.models import ChunkType
from spinneret.content.search.models import (
    FoundChunk,
    Fusion,
    Hit,
    Leg,
    LegCandidate,
    LegRank,
    Ranked,
)


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Complete ranking of a search, best first, from which pages are returned."""

    asked: str
    """Fingerprint of the search, without its limit and cursor."""
    entries: tuple[Ranked, ...]
    fusion: Fusion | None
    """None for a single leg."""
    truncated: bool
    """Whether the query exceeded the limit of the model or the index and was truncated."""
    degraded: bool = False
    """Whether only the keyword leg ranked, because the query could not be embedded."""
    rerank_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class ShownPage:
    """A page of a ranking with its chunks."""

    hits: tuple[Hit, ...]
    total_count: int
    next_cursor: str | None
    fusion: Fusion | None
    truncated: bool
    degraded: bool = False
    rerank_failed: bool = False


def packed_ranking(ranking: Ranking) -> bytes:
    """Serialise a ranking."""
    return _packed({**_plain(ranking), "entries": [_entry(each) for each in ranking.entries]})


def unpacked_ranking(value: bytes) -> Ranking | None:
    """Deserialise a ranking; return None for a page, whose name in the cache looks alike."""
    fields = _unpacked(value)
    if "entries" not in fields:
        return None
    entries = tuple(_ranked(each) for each in fields.pop("entries"))
    return Ranking(**{**fields, "fusion": _fusion(fields)}, entries=entries)


def packed_page(page: ShownPage) -> bytes:
    """Serialise a page."""
    hits = [
        {
            "ranked": _entry(hit.ranked),
            "chunk": asdict(hit.chunk),
            "around": None if hit.around is None else [asdict(each) for each in hit.around],
        }
        for hit in page.hits
    ]
    return _packed({**_plain(page), "hits": hits})


def unpacked_page(value: bytes) -> ShownPage:
    """Deserialise a page."""
    fields = _unpacked(value)
    hits = tuple(
        Hit(
            ranked=_ranked(hit["ranked"]),
            chunk=_chunk(hit["chunk"]),
            around=None if hit["around"] is None else tuple(map(_chunk, hit["around"])),
        )
        for hit in fields.pop("hits")
    )
    return ShownPage(**{**fields, "fusion": _fusion(fields)}, hits=hits)


def _plain(value: Ranking | ShownPage) -> dict[str, Any]:
    """Return the fields that need no conversion to JSON."""
    many = {"entries", "hits"}
    return {name: each for name, each in vars(value).items() if name not in many}


def _entry(ranked: Ranked) -> dict[str, Any]:
    return {
        "id": ranked.candidate.chunk_id,
        "signature": ranked.candidate.signature,
        "score": ranked.score,
        "places": {leg: [place.rank, place.score] for leg, place in ranked.places.items()},
        "rerank": ranked.rerank_score,
        "similar": ranked.similar,
    }


def _ranked(entry: Mapping[str, Any]) -> Ranked:
    places = {
        Leg(leg): LegRank(rank=rank, score=score) for leg, (rank, score) in entry["places"].items()
    }
    score = next(iter(places.values())).score
    return Ranked(
        candidate=LegCandidate(chunk_id=entry["id"], score=score, signature=entry["signature"]),
        score=entry["score"],
        places=places,
        rerank_score=entry["rerank"],
        similar=entry["similar"],
    )


def _chunk(fields: Mapping[str, Any]) -> FoundChunk:
    highlights = tuple((start, end) for start, end in fields["highlights"])
    return FoundChunk(**{**fields, "type": ChunkType(fields["type"]), "highlights": highlights})


def _fusion(fields: Mapping[str, Any]) -> Fusion | None:
    return None if fields["fusion"] is None else Fusion(fields["fusion"])


def _packed(value: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(value).encode(), level=1)


def _unpacked(value: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(zlib.decompress(value))
    return fields

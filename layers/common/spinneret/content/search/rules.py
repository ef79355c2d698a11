"""Rank fusion: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spinneret.content.search.models import Candidate, Fused, Leg


def fuse(
    legs: Mapping[Leg, Sequence[Candidate]], weights: Mapping[Leg, float], k: int
) -> list[Fused]:
    """Weighted reciprocal rank fusion: score = Σ weight / (k + rank), ranks from 1.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009. A leg that lacks a chunk adds nothing. Equal scores are ordered
    by chunk id, so that the order survives a merge of the index's segments.
    """
    scores: dict[str, float] = {}
    found: dict[str, dict[Leg, Candidate]] = {}
    for leg, candidates in legs.items():
        for rank, candidate in enumerate(candidates, start=1):
            key = candidate.chunk_id
            scores[key] = scores.get(key, 0.0) + weights[leg] / (k + rank)
            found.setdefault(key, {})[leg] = candidate
    # What only a leg of no weight found is no hit.
    shown = [key for key, score in scores.items() if score > 0]
    order = sorted(shown, key=lambda key: (-scores[key], key))
    return [_fused(found[key], scores[key]) for key in order]


def _fused(by_leg: Mapping[Leg, Candidate], score: float) -> Fused:
    vector, keyword = by_leg.get(Leg.VECTOR), by_leg.get(Leg.KEYWORD)
    candidate = keyword or vector
    assert candidate is not None  # fuse() only names chunks that a leg found
    return Fused(
        candidate=candidate,
        score=score,
        vector_score=vector.score if vector else None,
        keyword_score=keyword.score if keyword else None,
        highlights=keyword.highlights if keyword else (),
    )

"""Fusion of two rankings: pure.

Three methods, of which `auto` takes the last:

- `rrf`: weighted reciprocal ranks, score = Σ weight / (k + rank) (Cormack, Clarke and Büttcher,
  "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009).
  It knows no scores: rank 30 in both lists beats rank 1 in one.
- `min_max`: each leg's scores from 0 (its last) to 1 (its first), then their weighted mean.
- `confidence`: each leg's scores in standard deviations from their mean, then a mean whose weights
  grow with the gap between the leg's first hit and its first one of another document: a leg that
  has one clear answer decides. Every leg is credited with one deviation besides its gap: two small
  gaps say that neither leg is sure, not which one is surer, and then the weights decide as they
  were measured. The score is the logistic function of it, between 0 and 1.

docs/benchmarks.md, "Retrieval", has the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spinneret.content.search.models import Fusion, Leg, LegCandidate, LegRank, Ranked


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What was measured with one embedder."""

    keyword_weight: float
    """Of the keyword leg in `confidence`; the vector leg has the rest to 1."""


DEFAULT_PROFILE: Final = Profile(keyword_weight=0.5)
PROFILES: Final[Mapping[str, Profile]] = {
    "sentence-transformers/all-MiniLM-L6-v2": Profile(keyword_weight=0.5),
}
"""By model id; an embedder that isn't named has the default (benchmarks/retrieval.py)."""

_CREDIT: Final = 0.75
"""Deviations that each leg has besides its gap: the middle of a plateau, chosen with the weights on
half of the questions (docs/benchmarks.md, "Retrieval"). Without it a paraphrase is lost to whatever
word of it a page happens to have: gaps of .5 and .03 gave that leg 96 % of the say."""

Scores = Mapping[str, float]
"""By chunk id."""
Weights = Mapping[Leg, float]
Legs = Mapping[Leg, Sequence[LegCandidate]]


def profile_of(model_id: str | None) -> Profile:
    """What was measured with this embedder."""
    return PROFILES.get(model_id or "", DEFAULT_PROFILE)


def fuse(
    legs: Legs, fusion: Fusion, weights: Weights, k: int, profile: Profile = DEFAULT_PROFILE
) -> tuple[list[Ranked], Fusion]:
    """All chunks that a leg of some weight found, best first, and the method that ranked them.

    Equal scores are ordered by chunk id, so that the order survives a merge of the index's
    segments. A single leg keeps its own scores where no method is asked for by name.
    """
    used = {leg: found for leg, found in legs.items() if weights[leg] > 0}
    method = Fusion.CONFIDENCE if fusion is Fusion.AUTO else fusion
    scores = _METHODS[method](used, weights, k, profile)
    places: dict[str, dict[Leg, LegRank]] = {}
    found: dict[str, LegCandidate] = {}
    for leg, candidates in legs.items():
        for rank, candidate in enumerate(candidates, start=1):
            places.setdefault(candidate.chunk_id, {})[leg] = LegRank(
                rank=rank, score=candidate.score
            )
            found.setdefault(candidate.chunk_id, candidate)
    order = sorted(scores, key=lambda key: (-scores[key], key))
    ranked = [Ranked(candidate=found[key], score=scores[key], places=places[key]) for key in order]
    return ranked, method


def single_leg_ranking(leg: Leg, candidates: Sequence[LegCandidate]) -> list[Ranked]:
    """One leg's ranking with its own scores."""
    ranked = [
        Ranked(candidate=each, score=each.score, places={leg: LegRank(rank=rank, score=each.score)})
        for rank, each in enumerate(candidates, start=1)
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.candidate.chunk_id))


def _rrf(legs: Legs, weights: Weights, k: int, _profile: Profile) -> Scores:
    scores: dict[str, float] = {}
    for leg, candidates in legs.items():
        for rank, candidate in enumerate(candidates, start=1):
            key = candidate.chunk_id
            scores[key] = scores.get(key, 0.0) + weights[leg] / (k + rank)
    return scores


def _min_max(legs: Legs, weights: Weights, _k: int, _profile: Profile) -> Scores:
    total = sum(weights[leg] for leg in legs)
    scores: dict[str, float] = {}
    for leg, candidates in legs.items():
        for key, value in _from_0_to_1(candidates).items():
            scores[key] = scores.get(key, 0.0) + weights[leg] / total * value
    return scores


def _from_0_to_1(candidates: Sequence[LegCandidate]) -> Scores:
    values = [each.score for each in candidates]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high <= low:  # one hit, or none better than another: each is the leg's best
        return {each.chunk_id: 1.0 for each in candidates}
    return {each.chunk_id: (each.score - low) / (high - low) for each in candidates}


@dataclass(frozen=True)
class _Deviations:
    """A leg's scores in standard deviations from their mean."""

    by_chunk: Scores
    missing: float
    """Of a chunk that the leg didn't find: as its last hit."""
    gap: float
    """Between the first hit and the first one of another document."""


def _confidence(legs: Legs, weights: Weights, _k: int, profile: Profile) -> Scores:
    measured = {Leg.KEYWORD: profile.keyword_weight, Leg.VECTOR: 1 - profile.keyword_weight}
    window = max((len(found) for found in legs.values()), default=0)
    deviations = {
        leg: _deviations(found, window - len(found) if leg is Leg.KEYWORD else 0)
        for leg, found in legs.items()
        if found
    }
    trusted = {
        leg: measured[leg] * weights[leg] * (each.gap + _CREDIT) for leg, each in deviations.items()
    }
    total = sum(trusted.values())
    keys = {key for each in deviations.values() for key in each.by_chunk}
    return {
        key: _logistic(
            sum(
                trusted[leg] / total * each.by_chunk.get(key, each.missing)
                for leg, each in deviations.items()
            )
        )
        for key in keys
    }


def _deviations(candidates: Sequence[LegCandidate], absent: int) -> _Deviations:
    """`absent` more chunks have none of the words: their score is 0, and a chunk that alone has one
    stands far above them, which a mean over a handful of hits wouldn't show."""
    values = sorted((each.score for each in candidates), reverse=True) + [0.0] * absent
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    if len(values) == 1 or spread <= abs(mean) * 1e-9:
        # Nothing to compare with: an only hit is as clear an answer as one deviation above others.
        gap = 1.0 if len(values) == 1 else 0.0
        return _Deviations({each.chunk_id: 1.0 for each in candidates}, 0.0, gap)
    by_chunk = {each.chunk_id: (each.score - mean) / spread for each in candidates}
    gap = _gap(candidates, values[-1]) / spread
    return _Deviations(by_chunk, (values[-1] - mean) / spread, gap)


def _gap(candidates: Sequence[LegCandidate], last: float) -> float:
    """Neighbouring chunks are much alike: the second hit is often of the first one's document."""
    ordered = sorted(candidates, key=lambda each: -each.score)
    first = ordered[0]
    others = (each.score for each in ordered if each.document_id != first.document_id)
    return first.score - next(others, last)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


_METHODS: Final[Mapping[Fusion, Callable[[Legs, Weights, int, Profile], Scores]]] = {
    Fusion.RRF: _rrf,
    Fusion.MIN_MAX: _min_max,
    Fusion.CONFIDENCE: _confidence,
}

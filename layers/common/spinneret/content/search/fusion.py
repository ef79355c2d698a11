"""Fusion of two rankings; pure.

There are three methods; `auto` selects the last one:

- `rrf`: weighted reciprocal ranks, score = Σ weight / (k + rank). Source: Cormack, Clarke and
  Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods",
  SIGIR 2009. It ignores scores: rank 30 in both lists beats rank 1 in one.
- `min_max`: the weighted mean of each leg's scores, scaled from 0 (its last) to 1 (its first).
- `confidence`: the weighted mean of each leg's scores, in standard deviations from their mean.
  Weights grow with the gap between the leg's first hit and its first hit of another document: a
  leg with one clear answer decides. Each leg's gap is credited with `_CREDIT` deviations: two small
  gaps show that neither leg is certain, so the measured weights should decide. The score is the
  logistic function of the mean, between 0 and 1.

docs/benchmarks.md, "Retrieval", has the measurements.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spinneret.content.search.models import Fusion, Leg, LegCandidate, LegRank, Ranked


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Fusion parameters measured for one embedder."""

    keyword_weight: float
    """Weight of the keyword leg in `confidence`, from 0 to 1; the vector leg has the rest."""


DEFAULT_PROFILE: Final = Profile(keyword_weight=0.5)
PROFILES: Final[Mapping[str, Profile]] = {
    "sentence-transformers/all-MiniLM-L6-v2": Profile(keyword_weight=0.5),
}
"""Profiles by model id; unlisted embedders have the default (benchmarks/retrieval.py)."""

_CREDIT: Final = 0.75
"""Deviations added to each leg's gap: the middle of a plateau, tuned with the weights on half of
the questions (docs/benchmarks.md, "Retrieval"). Without it, a paraphrase loses to any page that
shares one of its words: gaps of .5 and .03 gave the keyword leg 96 % of the weight."""

Scores = Mapping[str, float]
"""Scores by chunk id."""
Weights = Mapping[Leg, float]
Legs = Mapping[Leg, Sequence[LegCandidate]]


def profile_of(model_id: str | None) -> Profile:
    """Return the profile of an embedder, or the default."""
    return PROFILES.get(model_id or "", DEFAULT_PROFILE)


def fuse(
    legs: Legs, fusion: Fusion, weights: Weights, k: int, profile: Profile = DEFAULT_PROFILE
) -> tuple[list[Ranked], Fusion]:
    """Return all chunks found by a leg with positive weight, best first, and the fusion method
    used.

    Ties are ordered by chunk id, so that the order survives a merge of the index's segments.
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
    """Return one leg's ranking with its own scores."""
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
    if high <= low:  # one hit, or equal scores: each is the leg's best
        return {each.chunk_id: 1.0 for each in candidates}
    return {each.chunk_id: (each.score - low) / (high - low) for each in candidates}


@dataclass(frozen=True)
class _Deviations:
    """A leg's scores in standard deviations from their mean."""

    by_chunk: Scores
    missing: float
    """Score of a chunk that the leg didn't find: that of its last hit."""
    gap: float
    """Difference between the first hit and the first hit of another document."""


def _confidence(legs: Legs, weights: Weights, _k: int, profile: Profile) -> Scores:
    measured = {Leg.KEYWORD: profile.keyword_weight, Leg.VECTOR: 1 - profile.keyword_weight}
    window = max((len(found) for found in legs.values()), default=0)
    deviations = {
        leg: _deviations(found, window - len(found) if leg is Leg.KEYWORD else 0)
        for leg, found in legs.items()
        if found
    }
    top = max((weights[leg] for leg in deviations), default=1.0)  # products of tiny ones would be 0
    trusted = {
        leg: measured[leg] * (weights[leg] / top) * (each.gap + _CREDIT)
        for leg, each in deviations.items()
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
    """Return the leg's deviations; `absent` more chunks match no word and score 0. Without these
    zeros, the mean of a few hits would hide that only one chunk has a word."""
    values = sorted((each.score for each in candidates), reverse=True) + [0.0] * absent
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    if len(values) == 1 or spread <= abs(mean) * 1e-9:
        # There are no other scores: a single hit counts as one deviation above others.
        gap = 1.0 if len(values) == 1 else 0.0
        return _Deviations({each.chunk_id: 1.0 for each in candidates}, 0.0, gap)
    by_chunk = {each.chunk_id: (each.score - mean) / spread for each in candidates}
    gap = _gap(candidates, values[-1]) / spread
    return _Deviations(by_chunk, (values[-1] - mean) / spread, gap)


def _gap(candidates: Sequence[LegCandidate], last: float) -> float:
    """Return the gap from the first hit to the first hit of another document, since neighbouring
    chunks are much alike."""
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

"""Weighted reciprocal rank fusion."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.search.models import Candidate, Fused, Leg
from spinneret.content.search.rules import fuse
from tests import factories

IDS = st.lists(st.integers(0, 30).map(lambda n: f"doc:{n:02d}"), unique=True)
WEIGHTS = st.just(0.0) | st.floats(0.001, 10)
EQUAL = {Leg.VECTOR: 1.0, Leg.KEYWORD: 1.0}


def leg(ids: Sequence[str]) -> list[Candidate]:
    """Candidates whose own scores fall as their rank."""
    return [factories.candidate(each, score=1.0 / n) for n, each in enumerate(ids, start=1)]


def fused(
    vector: Sequence[str],
    keyword: Sequence[str],
    weights: tuple[float, float] = (1.0, 1.0),
    k: int = 60,
) -> list[Fused]:
    legs = {Leg.VECTOR: leg(vector), Leg.KEYWORD: leg(keyword)}
    return fuse(legs, dict(zip(Leg, weights, strict=True)), k)


def ids(hits: Sequence[Fused]) -> list[str]:
    return [hit.candidate.chunk_id for hit in hits]


def test_a_score_is_the_weighted_sum_of_reciprocal_ranks() -> None:
    hits = fused(["a", "b"], ["c", "b", "a"], weights=(2.0, 0.5), k=10)
    scores = dict(zip(ids(hits), [hit.score for hit in hits], strict=True))
    assert scores == pytest.approx({"a": 2 / 11 + 0.5 / 13, "b": 2 / 12 + 0.5 / 12, "c": 0.5 / 11})
    assert ids(hits) == ["a", "b", "c"]


@given(IDS, IDS, WEIGHTS, WEIGHTS, st.integers(1, 1000))
def test_hits_are_ordered_by_score_and_equal_scores_by_id(
    vector: list[str], keyword: list[str], one: float, other: float, k: int
) -> None:
    hits = fused(vector, keyword, (one, other), k)
    order = [(-hit.score, hit.candidate.chunk_id) for hit in hits]
    assert order == sorted(order)


@given(IDS, IDS, st.integers(1, 1000))
def test_every_chunk_of_a_leg_is_a_hit_once(vector: list[str], keyword: list[str], k: int) -> None:
    assert sorted(ids(fused(vector, keyword, k=k))) == sorted({*vector, *keyword})


@given(IDS, IDS, st.integers(1, 1000))
def test_legs_of_equal_weight_may_be_exchanged(
    vector: list[str], keyword: list[str], k: int
) -> None:
    assert ids(fused(vector, keyword, k=k)) == ids(fused(keyword, vector, k=k))


@given(IDS, WEIGHTS, st.integers(1, 1000))
def test_one_leg_alone_keeps_its_order(only: list[str], weight: float, k: int) -> None:
    expected = only if weight else []
    assert ids(fused(only, [], (weight, 1.0), k)) == expected
    assert ids(fuse({Leg.KEYWORD: leg(only)}, {**EQUAL, Leg.KEYWORD: weight}, k)) == expected


@given(IDS, IDS, st.integers(1, 1000))
def test_a_leg_of_weight_0_neither_reorders_nor_adds_hits(
    vector: list[str], keyword: list[str], k: int
) -> None:
    hits = fused(vector, keyword, (1.0, 0.0), k)
    assert ids(hits) == vector


@given(IDS, IDS, st.integers(1, 1000))
def test_a_chunk_that_both_legs_found_beats_one_of_the_same_rank_that_only_one_did(
    vector: list[str], keyword: list[str], k: int
) -> None:
    place = {each: n for n, each in enumerate(ids(fused(vector, keyword, k=k)))}
    for rank, one in enumerate(vector):
        if one in keyword:
            continue
        for both in (each for each in vector[:rank] if each in keyword):
            assert place[both] < place[one]


@pytest.mark.parametrize(
    ("vector", "keyword", "found_by"),
    [(["a"], [], "vector"), ([], ["a"], "keyword"), (["a"], ["a"], "fused")],
)
def test_a_hit_says_which_leg_found_it_and_with_what_score(
    vector: list[str], keyword: list[str], found_by: str
) -> None:
    [hit] = fused(vector, keyword)
    assert hit.found_by == found_by
    assert (hit.vector_score, hit.keyword_score) == (
        1.0 if vector else None,
        1.0 if keyword else None,
    )


def test_highlights_come_from_the_keyword_leg() -> None:
    marked = factories.candidate("a", highlights=((0, 4),))
    plain = factories.candidate("a")
    legs = {Leg.VECTOR: [plain], Leg.KEYWORD: [marked]}
    [hit] = fuse(legs, EQUAL, 60)
    assert hit.highlights == ((0, 4),)
    [hit] = fuse({Leg.VECTOR: [plain]}, EQUAL, 60)
    assert hit.highlights == ()


@pytest.mark.parametrize("legs", [{}, {Leg.VECTOR: []}, {Leg.VECTOR: [], Leg.KEYWORD: []}])
def test_nothing_found_is_no_hit(legs: dict[Leg, list[Candidate]]) -> None:
    assert fuse(legs, EQUAL, 60) == []


def test_equal_scores_are_told_apart_by_id_whatever_their_order_was() -> None:
    for first, second in itertools.permutations(["a", "b"]):
        assert ids(fused([first], [second])) == ["a", "b"]

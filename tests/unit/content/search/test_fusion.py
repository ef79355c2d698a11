"""Fusion of two rankings: reciprocal ranks, normalised scores, and confidence weights."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.search.fusion import Profile, fuse, profile_of, single_leg_ranking
from spinneret.content.search.models import Fusion, Leg, LegCandidate, Ranked
from tests import factories

METHODS = st.sampled_from([Fusion.RRF, Fusion.MIN_MAX, Fusion.CONFIDENCE, Fusion.AUTO])
IDS = st.lists(st.integers(0, 30).map(lambda n: f"doc{n:02d}"), unique=True)
WEIGHTS = st.floats(0.001, 10)
EQUAL = (1.0, 1.0)
Scored = Sequence[tuple[str, float]]


@st.composite
def legs(draw: st.DrawFn) -> list[tuple[str, float]]:
    """Draw chunks with falling scores, as a leg returns them."""
    ids = draw(IDS)
    scores = draw(st.lists(st.floats(0.01, 50), min_size=len(ids), max_size=len(ids)))
    return list(zip(ids, sorted(scores, reverse=True), strict=True))


def leg(scored: Scored) -> list[LegCandidate]:
    """Return the candidates of a leg; each chunk that is named by a word has its own document."""
    return [factories.candidate(_chunk(key), score=score) for key, score in scored]


def _chunk(key: str) -> str:
    return key if ":" in key else f"{key}:1-x:00000"


def ranks(ids: Sequence[str]) -> Scored:
    """Return scores that fall with the rank."""
    return [(key, 1.0 / n) for n, key in enumerate(ids, start=1)]


def fused(
    vector: Scored,
    keyword: Scored,
    weights: tuple[float, float] = EQUAL,
    k: int = 60,
    method: Fusion = Fusion.RRF,
    keyword_weight: float = 0.75,
) -> list[Ranked]:
    found = {Leg.VECTOR: leg(vector), Leg.KEYWORD: leg(keyword)}
    profile = Profile(keyword_weight=keyword_weight)
    return fuse(found, method, dict(zip(Leg, weights, strict=True)), k, profile)[0]


def ids(hits: Sequence[Ranked]) -> list[str]:
    """Return the chunk of each hit, by the word that names it."""
    return [hit.candidate.chunk_id.removesuffix(":1-x:00000") for hit in hits]


# ---------------------------------------------------------------- Every method


@given(legs(), legs(), WEIGHTS, WEIGHTS, METHODS)
def test_hits_are_ordered_by_score_and_equal_scores_by_id(
    vector: Scored, keyword: Scored, one: float, other: float, method: Fusion
) -> None:
    hits = fused(vector, keyword, (one, other), method=method)
    order = [(-hit.score, hit.candidate.chunk_id) for hit in hits]
    assert order == sorted(order)


@given(legs(), legs(), METHODS)
def test_every_chunk_of_a_leg_is_a_hit_once(
    vector: Scored, keyword: Scored, method: Fusion
) -> None:
    hits = fused(vector, keyword, method=method)
    assert sorted(ids(hits)) == sorted({key for key, _ in [*vector, *keyword]})


@given(legs(), WEIGHTS, METHODS)
def test_one_leg_alone_keeps_its_order(only: Scored, weight: float, method: Fusion) -> None:
    expected = [key for key, _ in sorted(only, key=lambda each: (-each[1], each[0]))]
    hits = fused(only, [], (weight, 1.0), method=method)
    scores = [hit.score for hit in hits]
    if len(set(scores)) == len(scores):  # otherwise ids order equal scores
        assert ids(hits) == expected or method is Fusion.RRF
    assert ids(fused(only, ranks(["z"]), (1.0, 0.0), method=method)) == ids(hits)


@given(legs(), legs(), METHODS)
def test_a_hit_has_the_place_that_each_leg_gave_it(
    vector: Scored, keyword: Scored, method: Fusion
) -> None:
    for hit in fused(vector, keyword, method=method):
        [key] = ids([hit])
        for name, found in ((Leg.VECTOR, vector), (Leg.KEYWORD, keyword)):
            expected = {n: score for n, (each, score) in enumerate(found, start=1) if each == key}
            place = hit.places.get(name)
            assert expected == ({} if place is None else {place.rank: place.score})
        both = len(hit.places) == 2
        assert (hit.found_by == "fused") == both


@given(legs(), legs(), st.sampled_from([Fusion.MIN_MAX, Fusion.CONFIDENCE]))
def test_scores_of_scores_lie_between_0_and_1(
    vector: Scored, keyword: Scored, method: Fusion
) -> None:
    assert all(0 <= hit.score <= 1 + 1e-9 for hit in fused(vector, keyword, method=method))


@given(legs(), legs(), METHODS, st.floats(0.1, 100))
def test_the_unit_of_a_leg_s_scores_does_not_matter(
    vector: Scored, keyword: Scored, method: Fusion, unit: float
) -> None:
    """BM25 scores grow with the number of words; cosines don't."""
    scaled = [(key, score * unit) for key, score in keyword]
    one = {hit.candidate.chunk_id: hit.score for hit in fused(vector, keyword, method=method)}
    other = {hit.candidate.chunk_id: hit.score for hit in fused(vector, scaled, method=method)}
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("method", list(Fusion))
@pytest.mark.parametrize("found", [{}, {Leg.VECTOR: []}, {Leg.VECTOR: [], Leg.KEYWORD: []}])
def test_nothing_found_is_no_hit(found: dict[Leg, list[LegCandidate]], method: Fusion) -> None:
    assert fuse(found, method, dict.fromkeys(Leg, 1.0), 60)[0] == []


def test_auto_says_what_it_took() -> None:
    for asked in Fusion:
        used = fuse({Leg.VECTOR: []}, asked, dict.fromkeys(Leg, 1.0), 60)[1]
        assert used is (Fusion.CONFIDENCE if asked is Fusion.AUTO else asked)


# ---------------------------------------------------------------- Reciprocal ranks


# covers S-02
def test_a_score_is_the_weighted_sum_of_reciprocal_ranks() -> None:
    hits = fused(ranks("ab"), ranks("cba"), weights=(2.0, 0.5), k=10)
    scores = dict(zip(ids(hits), [hit.score for hit in hits], strict=True))
    assert scores == pytest.approx({"a": 2 / 11 + 0.5 / 13, "b": 2 / 12 + 0.5 / 12, "c": 0.5 / 11})
    assert ids(hits) == ["a", "b", "c"]


@given(IDS, IDS, st.integers(1, 1000))
def test_legs_of_equal_weight_may_be_exchanged(
    vector: list[str], keyword: list[str], k: int
) -> None:
    one, other = (
        fused(ranks(vector), ranks(keyword), k=k),
        fused(ranks(keyword), ranks(vector), k=k),
    )
    assert ids(one) == ids(other)


@given(IDS, IDS, st.integers(1, 1000))
def test_a_chunk_that_both_legs_found_beats_one_of_the_same_rank_that_only_one_did(
    vector: list[str], keyword: list[str], k: int
) -> None:
    hits = fused(ranks(vector), ranks(keyword), k=k)
    place = {each: n for n, each in enumerate(ids(hits))}
    for rank, one in enumerate(vector):
        if one in keyword:
            continue
        for both in (each for each in vector[:rank] if each in keyword):
            assert place[both] < place[one]


def test_equal_scores_are_told_apart_by_id_whatever_their_order_was() -> None:
    for first, second in itertools.permutations(["a", "b"]):
        assert ids(fused(ranks([first]), ranks([second]))) == ["a", "b"]


# ---------------------------------------------------------------- Scores


def test_min_max_is_the_weighted_mean_of_scores_between_last_and_first() -> None:
    hits = fused(
        [("a", 0.9), ("b", 0.7), ("c", 0.5)],
        [("b", 8.0), ("d", 4.0)],
        (1.0, 3.0),
        method=Fusion.MIN_MAX,
    )
    scores = dict(zip(ids(hits), [hit.score for hit in hits], strict=True))
    assert scores == pytest.approx({"a": 0.25, "b": 0.125 + 0.75, "c": 0.0, "d": 0.0})


def test_the_leg_with_the_clearer_first_hit_decides() -> None:
    flat = [(f"n{n:02d}", 0.8 - n / 100) for n in range(20)]
    clear = [("n19", 20.0), *((f"n{n:02d}", 5 - n / 10) for n in range(19))]
    for vector, keyword in ((flat, clear), (clear, flat)):
        assert ids(fused(vector, keyword, method=Fusion.CONFIDENCE))[0] == "n19"


def test_further_hits_of_the_first_document_make_it_no_less_clear() -> None:
    keyword = [(f"k{n:02d}:1-x:00000", 0.8 - n / 100) for n in range(20)]
    same = [(f"d:1-x:{n:05d}", 20 - n / 10) for n in range(3)]
    vector = [*same, *((f"k{n:02d}:1-x:00000", 5 - n / 10) for n in range(19, 0, -1))]
    vector.sort(key=lambda each: -each[1])
    hits = fused(vector, keyword, method=Fusion.CONFIDENCE, keyword_weight=0.5)
    assert ids(hits)[0] == "d"


def test_a_first_hit_that_is_hardly_clearer_than_the_others_does_not_decide() -> None:
    """One page shares a word with a paraphrased query by chance; the answer shares another word."""
    vector = [("a", 0.70), ("answer", 0.699), *((f"v{n:02d}", 0.66 - n / 500) for n in range(98))]
    keyword = [
        ("chance", 3.3),
        ("b", 2.9),
        ("answer", 2.7),
        *((f"k{n}", 2 - n / 10) for n in range(8)),
    ]
    hits = fused(vector, keyword, method=Fusion.CONFIDENCE, keyword_weight=0.5)
    assert ids(hits)[0] == "answer"


def test_between_equally_clear_legs_the_measured_weight_decides() -> None:
    vector, keyword = [("a", 3.0), ("c", 1.0), ("d", 0.0)], [("b", 3.0), ("c", 1.0), ("d", 0.0)]
    for weight, first in ((0.75, "b"), (0.25, "a")):
        hits = fused(vector, keyword, method=Fusion.CONFIDENCE, keyword_weight=weight)
        assert ids(hits)[0] == first


def test_the_only_hit_of_a_leg_is_a_clear_one() -> None:
    """An exact code occurs in one chunk, and the vectors of all other chunks are much alike."""
    vector = [(f"v{n}", 0.5 - n / 1000) for n in range(50)]
    assert ids(fused(vector, [("code", 4.2)], method=Fusion.CONFIDENCE))[0] == "code"


def test_a_rank_far_down_in_both_legs_does_not_beat_the_first_of_one() -> None:
    """Reciprocal ranks get this wrong, because 2/90 > 1/61."""
    vector = [(f"v{n}", 0.9 - n / 100) for n in range(29)] + [("both", 0.5)]
    keyword = [(f"k{n}", 30.0 - n) for n in range(29)] + [("both", 0.5)]
    assert ids(fused(vector, keyword, method=Fusion.RRF))[0] == "both"
    for method in (Fusion.MIN_MAX, Fusion.CONFIDENCE):
        assert ids(fused(vector, keyword, method=method))[0] in ("v0", "k0")


@pytest.mark.parametrize("weights", [(5e-324, 0.0), (5e-324, 5e-324)])
def test_the_smallest_weights_are_weights(weights: tuple[float, float]) -> None:
    assert ids(fused(ranks(["a"]), ranks(["a"]), weights, method=Fusion.CONFIDENCE)) == ["a"]


def test_an_unmeasured_embedder_has_the_default() -> None:
    assert profile_of(None) == profile_of("org/unknown")


# ---------------------------------------------------------------- One leg


def test_a_leg_alone_keeps_its_own_scores() -> None:
    hits = single_leg_ranking(Leg.KEYWORD, leg([("b", 7.0), ("c", 7.0), ("a", 3.0)]))
    assert [(*ids([hit]), hit.score, hit.found_by) for hit in hits] == [
        ("b", 7.0, "keyword"),
        ("c", 7.0, "keyword"),
        ("a", 3.0, "keyword"),
    ]

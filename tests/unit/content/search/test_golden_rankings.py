"""The default fusion on recorded rankings of the demonstration's 25 questions.

For each question, `rankings.json` holds the wanted page and, for each leg, the scores of chunks by
page and number. The scores are those of the index and the local model.
"""

import json
from typing import Any, Final

import pytest

from spinneret.content.search.fusion import Profile, fuse, single_leg_ranking
from spinneret.content.search.models import Fusion, Leg, LegCandidate, Ranked
from tests.conftest import ROOT

RECORDED: Final[list[dict[str, Any]]] = json.loads(
    (ROOT / "tests" / "cases" / "rankings.json").read_text()
)
GOAL: Final = 0.97
EVEN: Final = dict.fromkeys(Leg, 1.0)
Legs = dict[Leg, list[LegCandidate]]


def legs_of(recorded: dict[str, Any]) -> Legs:
    found: Legs = {}
    for leg in Leg:
        scores = [
            LegCandidate(chunk_id=f"{page}:000001-x:{number}", score=score)
            for page, chunks in recorded[leg.value].items()
            for number, score in chunks.items()
        ]
        found[leg] = sorted(scores, key=lambda each: (-each.score, each.chunk_id))
    return found


def reciprocal_rank(ranked: list[Ranked], wanted: str) -> float:
    pages = list(dict.fromkeys(each.candidate.document_id for each in ranked))
    return 1 / (1 + pages.index(wanted)) if wanted in pages else 0.0


def mean_reciprocal_rank(rank: Any) -> float:
    ranks = [reciprocal_rank(rank(legs_of(each)), each["wanted"]) for each in RECORDED]
    return sum(ranks) / len(ranks)


# covers S-02
def test_the_default_fusion_finds_nearly_every_page_first() -> None:
    assert mean_reciprocal_rank(lambda legs: fuse(legs, Fusion.AUTO, EVEN, 60)[0]) >= GOAL


@pytest.mark.parametrize(
    "rank",
    [
        *(
            pytest.param(
                lambda legs, leg=leg: single_leg_ranking(leg, legs[leg]), id=f"{leg.value} alone"
            )
            for leg in Leg
        ),
        pytest.param(lambda legs: fuse(legs, Fusion.RRF, EVEN, 60)[0], id="rrf"),
        pytest.param(lambda legs: fuse(legs, Fusion.MIN_MAX, EVEN, 60)[0], id="min_max"),
        *(
            pytest.param(
                lambda legs, weight=weight: fuse(
                    legs, Fusion.CONFIDENCE, EVEN, 60, Profile(keyword_weight=weight)
                )[0],
                id=f"keyword {weight}",
            )
            for weight in (0.1, 0.8)
        ),
    ],
)
def test_other_fusions_would_fail(rank: Any) -> None:
    """The set distinguishes a wrong choice from the right one."""
    assert mean_reciprocal_rank(rank) < GOAL

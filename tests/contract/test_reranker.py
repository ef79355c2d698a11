"""Contract tests of rerankers: the fake, and the client of a server with TEI's protocol."""

import json
from dataclasses import dataclass

import httpx
import pytest

from spinneret.content.search.ports import Reranker
from spinneret.content.search.tei import TeiReranker
from spinneret.kernel.errors import DependencyUnavailable
from tests.fakes.search import FakeReranker
from tests.fakes.time import plenty


@dataclass
class Reranking:
    """A reranker, and the fake that scores for it: the reranker itself, or behind a server."""

    reranker: Reranker
    behind: FakeReranker


@pytest.fixture(params=["fake", "server"])
def reranking(request: pytest.FixtureRequest) -> Reranking:
    behind = FakeReranker()
    if request.param == "fake":
        return Reranking(behind, behind)

    def answer(request: httpx.Request) -> httpx.Response:
        if not behind.available:
            return httpx.Response(503)
        if request.url.path == "/info":
            return httpx.Response(200, json={"model_id": "m", "max_client_batch_size": 3})
        body = json.loads(request.content)
        scores = behind.rerank(body["query"], body["texts"], plenty)
        ranks = [{"index": n, "score": score} for n, score in enumerate(scores)]
        return httpx.Response(200, json=sorted(ranks, key=lambda each: -each["score"]))

    client = httpx.Client(transport=httpx.MockTransport(answer))
    return Reranking(TeiReranker("http://reranker.example", client, sleep=lambda _: None), behind)


TEXTS = ["wool", "spiders weave silk", "silk", "", "größe 🕸", "spiders", "silk of spiders"]


def test_each_text_has_its_score_in_the_order_of_the_texts(reranking: Reranking) -> None:
    scores = reranking.reranker.rerank("spiders silk", TEXTS, plenty)
    assert len(scores) == len(TEXTS)
    assert all(0 <= each <= 1 for each in scores)
    by_text = dict(zip(TEXTS, scores, strict=True))
    assert by_text["spiders weave silk"] > by_text["silk"] > by_text["wool"]
    alone = [reranking.reranker.rerank("spiders silk", [each], plenty)[0] for each in TEXTS]
    assert alone == scores


def test_no_texts_have_no_scores(reranking: Reranking) -> None:
    assert reranking.reranker.rerank("silk", [], plenty) == []


def test_one_that_is_away_says_so_and_answers_when_it_is_back(reranking: Reranking) -> None:
    reranking.behind.available = False
    with pytest.raises(DependencyUnavailable):
        reranking.reranker.rerank("silk", TEXTS, plenty)
    reranking.behind.available = True
    assert len(reranking.reranker.rerank("silk", TEXTS, plenty)) == len(TEXTS)


def test_without_time_there_is_no_answer(reranking: Reranking) -> None:
    with pytest.raises(DependencyUnavailable):
        reranking.reranker.rerank("silk", TEXTS, lambda: 0.0)

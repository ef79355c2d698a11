"""The reranker's protocol: TEI's `/rerank` and `/info`."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from spinneret.content.search.tei import TeiReranker
from spinneret.kernel.errors import DependencyUnavailable, EmbeddingRefused
from tests.fakes.time import plenty

TEXTS = [f"text {n}" for n in range(7)]


class Server:
    """A TEI server that returns each batch in the order of its scores."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.failures: list[httpx.Response | Exception] = []
        self.answer: Callable[[list[dict[str, Any]]], Any] = lambda ranks: ranks

    def reranker(self) -> TeiReranker:
        client = httpx.Client(transport=httpx.MockTransport(self._answer))
        return TeiReranker("http://reranker/", client, sleep=lambda _: None)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        if request.url.path == "/info":
            return httpx.Response(200, json={"model_id": "m", "max_client_batch_size": 3})
        assert request.url.path == "/rerank"
        body = json.loads(request.content)
        self.requests.append(body)
        ranks = [
            {"index": n, "score": float(text.split()[1]) / 10}
            for n, text in enumerate(body["texts"])
        ]
        ranks.sort(key=lambda rank: -rank["score"])
        return httpx.Response(200, text=json.dumps(self.answer(ranks)))


def test_scores_come_in_the_order_of_the_texts_whatever_the_batches() -> None:
    server = Server()
    scores = server.reranker().rerank("silk", TEXTS, plenty)
    assert scores == [n / 10 for n in range(7)]
    assert [len(each["texts"]) for each in server.requests] == [3, 3, 1]
    assert all(each["query"] == "silk" and each["truncate"] for each in server.requests)


def test_its_limits_are_asked_for_once() -> None:
    server = Server()
    reranker = server.reranker()
    assert reranker.rerank("silk", [], plenty) == []
    server.failures = []
    reranker.rerank("silk", TEXTS[:1], plenty)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        lambda ranks: ranks[1:],
        lambda ranks: [{**each, "index": 0} for each in ranks],
        lambda ranks: [{**each, "score": float("nan")} for each in ranks],
        lambda ranks: [{**each, "score": None} for each in ranks],
    ],
)
def test_an_answer_to_another_question_is_refused(answer: Any) -> None:
    server = Server()
    server.answer = answer
    with pytest.raises(EmbeddingRefused):
        server.reranker().rerank("silk", TEXTS[:3], plenty)


def test_a_passing_failure_is_tried_again_and_a_lasting_one_reported() -> None:
    server = Server()
    server.failures = [httpx.Response(429), httpx.ConnectError("refused")]
    assert server.reranker().rerank("silk", TEXTS[:1], plenty) == [0.0]
    server.failures = [httpx.Response(503)] * 9
    with pytest.raises(DependencyUnavailable) as away:
        server.reranker().rerank("silk", TEXTS[:1], plenty)
    assert away.value.dependency == "reranker"
    server.failures = [httpx.Response(422)]
    with pytest.raises(EmbeddingRefused):
        server.reranker().rerank("silk", TEXTS[:1], plenty)


def test_without_time_it_is_not_asked() -> None:
    with pytest.raises(DependencyUnavailable):
        Server().reranker().rerank("silk", TEXTS, lambda: 0.0)

"""A server on loopback that speaks the protocol of Text Embeddings Inference (TEI).

A vector counts hashed words in the given number of dimensions. The rerank score of a text is the
share of the query's words that the text contains.
"""

import json
import math
import re
import zlib
from typing import Any

from tests.fakes.scripted_server import Behaviour, Exchange, ScriptedServer, answer

MODEL = "example/large-v1"
MOST = 4
"""Maximum number of texts in one request."""


def serve_tei(dimension: int) -> ScriptedServer:
    """Return the server, which is a context manager."""
    return ScriptedServer(
        {
            "/info": _json(lambda _: _INFO),
            "/tokenize": _json(lambda body: [_tokens(body["inputs"])]),
            "/embed": _json(lambda body: [_vector(each, dimension) for each in _batch(body)]),
            "/rerank": _json(_ranks),
        }
    )


_INFO = {"model_id": MODEL, "max_input_length": 64, "max_client_batch_size": MOST}


def _json(made: Any) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        body = json.loads(exchange.request.body or b"null")
        found = json.dumps(made(body)).encode()
        answer(found, content_type="application/json")(exchange)

    return behave


def _batch(body: Any) -> list[str]:
    texts: list[str] = body.get("inputs") or body["texts"]
    assert len(texts) <= MOST, "TEI answers 413"
    return texts


def _tokens(text: str) -> list[dict[str, Any]]:
    """Return the words of a text, with positions in bytes of UTF-8."""
    return [
        {
            "id": 1,
            "text": found.group(),
            "special": False,
            "start": len(text[: found.start()].encode()),
            "stop": len(text[: found.end()].encode()),
        }
        for found in re.finditer(r"\S+", text)
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _vector(text: str, dimension: int) -> list[float]:
    vector = [0.0] * dimension
    for word in _words(text):
        vector[zlib.crc32(word.encode()) % dimension] += 1.0
    norm = math.hypot(*vector)
    return [value / norm for value in vector] if norm else [1.0, *vector[1:]]


def _ranks(body: Any) -> list[dict[str, Any]]:
    """Return the ranks of the texts, best first, as TEI does."""
    wanted = set(_words(body["query"]))
    scores = [len(wanted & set(_words(text))) / len(wanted) for text in _batch(body)]
    ranks = [{"index": number, "score": score} for number, score in enumerate(scores)]
    return sorted(ranks, key=lambda each: -float(each["score"]))

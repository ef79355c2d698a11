"""Contract tests of embedders: the fake, the stack's server, and the function in this process."""

import importlib
import io
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from spinneret.content.documents.ports import Embedder
from spinneret.content.search.lambda_embedder import LambdaEmbedder
from spinneret.content.search.tei import TeiEmbedder
from spinneret.kernel import bounds
from tests.conftest import ROOT, Stack
from tests.contract.backends import OF_OTHERS_AND_A_FUNCTION
from tests.fakes.search import FakeEmbedder
from tests.fakes.time import plenty

pytestmark = OF_OTHERS_AND_A_FUNCTION

TEXTS = {
    "plain": "Spiders weave silk from proteins.",
    "accents": "Größe café cafe\u0301 naïve",
    "emoji": "silk 🕷 and 🕸 webs 👩‍🔬",
    "scripts": "паук εικόνα 日本語 عنكبوت",
    "blanks": "  a\n\n\tb \u3000 c\u00a0d  ",
    "marks": "a-b_c 'd' \"e\" (f) [g] {h} #i *j* `k`",
    "long word": "x" * 300,
    "many words": "word " * 5000,
    "private use": "a \ue000 b \ue001",
}


@pytest.fixture
def embedder(backend: str, request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if backend == "fake":
        yield FakeEmbedder()
        return
    if backend == "function":
        invoked = request.getfixturevalue("invoked")
        yield LambdaEmbedder("embedder", lambda _: invoked)
        return
    with httpx.Client(trust_env=False) as client:
        yield TeiEmbedder(request.getfixturevalue("stack").embedder_url, client)


@pytest.fixture(scope="module")
def invoked(stack: Stack) -> Iterator[Any]:
    """Provide a client that calls the function in this process and encodes as Lambda does."""
    before = list(sys.path)
    # The engine isn't a development package; it is installed where the stack keeps its server.
    sys.path += [str(ROOT / "layers" / "embedder"), str(stack.embedder_weights.parents[1])]
    try:
        answering = importlib.import_module("spinneret_embedder.answering")
        yield _Invoked(answering.Answering(stack.embedder_model, 2))
    finally:
        sys.path[:] = before


class _Invoked:
    def __init__(self, model: Any) -> None:
        self._model = model

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's
        answer = json.dumps(self._model.answer(json.loads(Payload)))
        return {"StatusCode": 200, "Payload": io.BytesIO(answer.encode())}


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_its_bounds_allow_what_the_indexer_asks_for(embedder: Embedder) -> None:
    info = embedder.info(plenty)
    assert info == embedder.info(plenty)
    assert info.model_id
    assert info.dimension > 0
    assert info.max_input_tokens > bounds.CHUNK_MIN_TOKENS + bounds.CHUNK_OVERLAP_TOKENS
    assert info.max_batch >= 1


@pytest.mark.parametrize("count", [1, 2, 32])
def test_every_text_has_a_unit_vector_of_the_dimension(embedder: Embedder, count: int) -> None:
    vectors = embedder.embed([f"silk number {n}" for n in range(count)], plenty)
    assert len(vectors) == count
    for vector in vectors:
        assert len(vector) == embedder.info(plenty).dimension
        assert math.hypot(*vector) == pytest.approx(1, abs=0.0005)


def test_vectors_come_in_the_order_of_their_texts(embedder: Embedder) -> None:
    texts = ["spiders weave silk", "volcanoes erupt", "x", "spiders weave silk"]
    together = embedder.embed(texts, plenty)
    alone = [embedder.embed([text], plenty)[0] for text in texts]
    for one, other in zip(together, alone, strict=True):
        assert cosine(one, other) > 0.999
    assert cosine(together[0], together[3]) > 0.999
    assert cosine(together[0], together[1]) < 0.9


@pytest.mark.parametrize("name", list(TEXTS))
def test_tokens_slice_the_text(embedder: Embedder, name: str) -> None:
    text = TEXTS[name]
    tokens = embedder.tokenize(text, plenty)
    assert tokens
    position = 0
    for token in tokens:
        assert position <= token.start <= token.end <= len(text)
        position = token.start
    covered = {n for token in tokens for n in range(token.start, token.end)}
    missed = "".join(text[n] for n in range(len(text)) if n not in covered)
    assert not any(map(str.isalnum, missed)), missed


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000"])
def test_what_holds_no_text_has_no_tokens(embedder: Embedder, text: str) -> None:
    assert embedder.tokenize(text, plenty) == []


def test_tokens_of_ascii_words_are_exact(embedder: Embedder) -> None:
    text = "Spiders weave silk from proteins"
    pieces = [text[token.start : token.end] for token in embedder.tokenize(text, plenty)]
    assert "".join(pieces) == text.replace(" ", "")
    assert not any(" " in piece for piece in pieces)


def test_a_text_of_the_longest_input_is_embedded(embedder: Embedder) -> None:
    """The model itself uses two tokens of the window."""
    room = embedder.info(plenty).max_input_tokens - 2
    [vector] = embedder.embed(["a " * room], plenty)
    assert math.hypot(*vector) == pytest.approx(1, abs=0.0005)

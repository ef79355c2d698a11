"""The embedder's protocol: checks, retries, and offsets of texts that are sent in pieces."""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.documents.models import EmbedderInfo
from spinneret.content.search import limits
from spinneret.content.search.tei import TeiEmbedder
from spinneret.content.search.tei_protocol import characters_of, pieces, unit
from spinneret.content.vectors import rounded
from spinneret.kernel.errors import DependencyUnavailable, EmbeddingRefused
from tests.fakes.time import plenty
from tests.metrics import recorded


class Replaced:
    """A secret whose value changes when it is forgotten."""

    def __init__(self, *values: str) -> None:
        self.values = list(values)
        self.reads = 0

    def value(self) -> str:
        return self.values[0]

    def forget(self) -> None:
        self.reads += 1
        if len(self.values) > 1:
            del self.values[0]


INFO = {"model_id": "org/model", "max_input_length": 512, "max_client_batch_size": 32}
Answer = httpx.Response | Exception


class Server:
    """A TEI server that returns vectors of three dimensions and records its requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.pauses: list[float] = []
        self.embeddings: Callable[[list[str]], Any] = lambda texts: [[0.0, 3.0, 4.0]] * len(texts)
        self.failures: list[Answer] = []

    def embedder(self) -> TeiEmbedder:
        client = httpx.Client(transport=httpx.MockTransport(self._answer))
        return TeiEmbedder("http://embedder/", client, sleep=self.pauses.append)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content not in {b"", b"null"} else None
        self.requests.append((request.url.path, body))
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        match request.url.path:
            case "/info":
                return httpx.Response(200, json=INFO)
            case "/embed":
                return httpx.Response(200, text=json.dumps(self.embeddings(body["inputs"])))
            case "/tokenize":
                return httpx.Response(200, json=[byte_tokens(body["inputs"])])
        return httpx.Response(404)


def byte_tokens(text: str) -> list[dict[str, Any]]:
    """Return words as byte ranges, as TEI does."""
    tokens, position = [], 0
    for blank, group in itertools.groupby(text, str.isspace):
        word = "".join(group)
        end = position + len(word.encode())
        if not blank:
            tokens.append({"id": 1, "text": word, "special": False, "start": position, "stop": end})
        position = end
    return tokens


@pytest.fixture
def server() -> Server:
    return Server()


# ---------------------------------------------------------------- Info


# covers C-05
def test_the_dimension_is_learnt_from_the_embedder(server: Server) -> None:
    assert server.embedder().info(plenty) == EmbedderInfo(
        model_id="org/model", dimension=3, max_input_tokens=512, max_batch=32
    )


def test_the_embedder_is_asked_once_who_it_is(server: Server) -> None:
    embedder = server.embedder()
    for _ in range(3):
        embedder.embed(["silk"], plenty)
    assert [path for path, _ in server.requests].count("/info") == 1


# ---------------------------------------------------------------- Vectors


def test_vectors_are_brought_to_length_one_and_rounded(server: Server) -> None:
    recorded()
    assert server.embedder().embed(["silk"], plenty) == [rounded((0.0, 0.6, 0.8))]
    assert [*recorded()] == ["embedding_duration_ms"]


def test_texts_are_neither_cut_nor_normalised_by_the_embedder(server: Server) -> None:
    server.embedder().embed(["silk", "web"], plenty)
    _, body = server.requests[-1]
    assert body == {"inputs": ["silk", "web"], "normalize": False, "truncate": False}


BAD_VECTORS: dict[str, Any] = {
    "too short": [1.0, 0.0],
    "too long": [1.0, 0.0, 0.0, 0.0],
    "empty": [],
    "not a number": [1.0, math.nan, 0.0],
    "not a number, as TEI writes it": [1.0, None, 0.0],
    "beyond all floats in sum": [1e154, 1e154, 0.0],
    "infinite": [1.0, math.inf, 0.0],
    "both infinities": [math.inf, -math.inf, 0.0],
    "beyond all floats": [1e200, 1e200, 0.0],
    "zero": [0.0, 0.0, 0.0],
    "next to zero": [0.05, -0.05, 0.05],
}


# covers C-05
@pytest.mark.parametrize("name", list(BAD_VECTORS))
def test_a_vector_that_is_no_embedding_is_refused(server: Server, name: str) -> None:
    embedder = server.embedder()
    embedder.info(plenty)
    server.embeddings = lambda texts: [[0.0, 3.0, 4.0], BAD_VECTORS[name]]
    with pytest.raises(EmbeddingRefused):
        embedder.embed(["silk", "web"], plenty)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_vectors_is_refused(server: Server, count: int) -> None:
    embedder = server.embedder()
    embedder.info(plenty)
    server.embeddings = lambda _: [[0.0, 3.0, 4.0]] * count
    with pytest.raises(EmbeddingRefused):
        embedder.embed(["silk", "web"], plenty)


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=3).filter(lambda v: math.hypot(*v) >= 0.1))
def test_a_unit_vector_keeps_its_direction(vector: list[float]) -> None:
    answer = unit(vector, 3)
    assert math.hypot(*answer) == pytest.approx(1, abs=0.0005)
    assert [a * math.hypot(*vector) for a in answer] == pytest.approx(vector, abs=0.01)


# ---------------------------------------------------------------- Failures


def busy(status: int) -> httpx.Response:
    return httpx.Response(status, json={"error": "busy", "error_type": "Overloaded"})


# covers C-05
@pytest.mark.parametrize(
    "failure",
    [
        busy(408),
        busy(429),
        httpx.Response(200, text="<html>"),
        busy(500),
        busy(503),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
    ],
    ids=lambda each: each.status_code if isinstance(each, httpx.Response) else type(each).__name__,
)
def test_a_busy_embedder_is_asked_again_with_pauses(server: Server, failure: Answer) -> None:
    embedder = server.embedder()
    embedder.info(plenty)
    server.failures = [failure] * (limits.EMBED_ATTEMPTS - 1)
    assert len(embedder.embed(["silk"], plenty)) == 1
    assert server.pauses == [0.2, 0.4]


@pytest.mark.parametrize("failure", [busy(503), httpx.ConnectError("refused")], ids=["503", "off"])
def test_an_embedder_that_stays_busy_is_unavailable(server: Server, failure: Answer) -> None:
    server.failures = [failure] * 99
    recorded()
    with pytest.raises(DependencyUnavailable):
        server.embedder().embed(["silk"], plenty)
    assert recorded() == {"embedder_errors": [1]}
    assert len(server.requests) == limits.EMBED_ATTEMPTS
    assert len(server.pauses) == limits.EMBED_ATTEMPTS - 1


@pytest.mark.parametrize(("left", "tries"), [(2.5, 1), (5.0, 2), (0.0, 0)])
def test_no_call_lasts_longer_than_the_time_that_is_left(
    server: Server, left: float, tries: int
) -> None:
    clock = [left]
    timeouts: list[float] = []

    def hang(request: httpx.Request) -> httpx.Response:
        seconds = request.extensions["timeout"]["read"]
        timeouts.append(seconds)
        clock[0] -= min(seconds, 2.5)
        raise httpx.ReadTimeout("hung")

    client = httpx.Client(transport=httpx.MockTransport(hang))
    embedder = TeiEmbedder("http://embedder/", client, sleep=lambda _: None)
    with pytest.raises(DependencyUnavailable):
        embedder.embed(["silk"], lambda: clock[0])
    assert timeouts == [left, left - 2.5][:tries]


def test_a_stage_bounds_one_request(server: Server) -> None:
    timeouts: list[float] = []

    def hang(request: httpx.Request) -> httpx.Response:
        timeouts.append(request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("hung")

    client = httpx.Client(transport=httpx.MockTransport(hang))
    embedder = TeiEmbedder("http://embedder/", client, sleep=lambda _: None, seconds=7)
    with pytest.raises(DependencyUnavailable):
        embedder.embed(["silk"], plenty)
    assert set(timeouts) == {7}


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_input_that_is_refused_is_not_sent_again(server: Server, status: int) -> None:
    embedder = server.embedder()
    embedder.info(plenty)
    server.failures = [busy(status)]
    with pytest.raises(EmbeddingRefused) as refused:
        embedder.embed(["silk"], plenty)
    assert refused.value.details == {"status_code": status}
    assert server.pauses == []


# ---------------------------------------------------------------- Credentials


class Guarded(Server):
    """A TEI server that requires an Authorization header."""

    def __init__(self, wanted: str, status: int = 401) -> None:
        super().__init__()
        self.wanted = wanted
        self.status = status
        self.shown: list[str | None] = []

    def with_secret(self, secret: Replaced | None) -> TeiEmbedder:
        client = httpx.Client(transport=httpx.MockTransport(self._guarded))
        return TeiEmbedder("http://embedder/", client, sleep=lambda _: None, credentials=secret)

    def _guarded(self, request: httpx.Request) -> httpx.Response:
        self.shown.append(request.headers.get("authorization"))
        if self.shown[-1] != self.wanted:
            return httpx.Response(self.status)
        return self._answer(request)


def test_the_secret_is_the_authorization_header_of_every_request() -> None:
    server = Guarded("Bearer silk")
    server.with_secret(Replaced("Bearer silk")).embed(["silk"], plenty)
    assert server.shown == ["Bearer silk"] * 3


def test_without_a_secret_nothing_is_shown(server: Server) -> None:
    guarded = Guarded("Bearer silk")
    with pytest.raises(DependencyUnavailable):
        guarded.with_secret(None).embed(["silk"], plenty)
    assert guarded.shown == [None]


@pytest.mark.parametrize("status", [401, 403])
def test_a_secret_that_was_replaced_is_read_again(status: int) -> None:
    server = Guarded("Bearer new", status)
    secret = Replaced("Bearer old", "Bearer new")
    assert len(server.with_secret(secret).embed(["silk"], plenty)) == 1
    assert server.shown == ["Bearer old", *["Bearer new"] * 3]
    assert secret.reads == 1


def test_a_secret_that_stays_wrong_is_our_fault_not_the_texts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    server = Guarded("Bearer silk")
    with pytest.raises(DependencyUnavailable) as refused:
        server.with_secret(Replaced("Bearer wrong")).embed(["silk"], plenty)
    assert server.shown == ["Bearer wrong"] * 2
    assert "wrong" not in f"{refused.value}{refused.value.details}{caplog.text}"
    assert "wrong" not in "".join(str(each.__dict__) for each in caplog.records)


# ---------------------------------------------------------------- Tokens


@pytest.mark.parametrize(
    "text", ["", "  ", "spiders weave", "Größe 🕷 silk 日本 e\u0301", "\u00a0a\u3000b "]
)
def test_tokens_are_ranges_of_characters(server: Server, text: str) -> None:
    tokens = server.embedder().tokenize(text, plenty)
    assert [text[token.start : token.end] for token in tokens] == text.split()


@pytest.mark.heavy
def test_a_long_text_is_tokenised_in_pieces(server: Server) -> None:
    text = "größe 🕷 silk\n" * 20_000
    tokens = server.embedder().tokenize(text, plenty)
    assert [text[token.start : token.end] for token in tokens] == text.split()
    sent = [body["inputs"] for path, body in server.requests if path == "/tokenize"]
    assert len(sent) > 1
    assert "".join(sent) == text


@given(st.text(alphabet="ab é🕷\n", max_size=300), st.integers(1, 40))
def test_pieces_cover_all_but_blanks_in_order(text: str, size: int) -> None:
    ranges = list(pieces(text, size))
    assert all(begin < end <= begin + size for begin, end in ranges)
    borders = [0, *itertools.chain.from_iterable(ranges), len(text)]
    assert borders == sorted(borders)
    left_out = [text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True)]
    assert not "".join(left_out).strip()


@given(st.lists(st.sampled_from(["silk", "größe", "🕷"]), min_size=1), st.integers(8, 40))
def test_pieces_are_cut_between_words(words: list[str], size: int) -> None:
    text = " ".join(words)
    found = [word for begin, end in pieces(text, size) for word in text[begin:end].split()]
    assert found == words


@given(st.text(max_size=50), st.data())
def test_byte_ranges_become_the_characters_they_cover(text: str, data: st.DataObject) -> None:
    size = len(text.encode("utf-8", "replace"))
    text = text.encode("utf-8", "replace").decode()
    cuts = sorted(data.draw(st.lists(st.integers(0, size), unique=True)))
    offsets = list(itertools.pairwise(cuts))
    assert list(characters_of(text, offsets)) == [covered(text, *each) for each in offsets]


def covered(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the range of characters that have a byte in the given range, counted one by one."""
    hit: Sequence[int] = [
        n
        for n in range(len(text))
        if start < len(text[: n + 1].encode()) and len(text[:n].encode()) < stop
    ]
    return hit[0], hit[-1] + 1

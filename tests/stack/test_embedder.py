"""The local embedder: its HTTP protocol, which is TEI's, and the quality of its vectors."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest

from tests.stack.embedder_texts import ENGLISH_TEXTS, OTHER_TEXTS, TEXTS
from tests.stack.reference_encoder import ReferenceEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

pytestmark = pytest.mark.stack

DIMENSION = 384
MAX_INPUT_LENGTH = 512
MAX_CLIENT_BATCH_SIZE = 32
MAX_CONCURRENT_TEXTS = 512
# Two of a text's tokens are [CLS] and [SEP].
LONGEST_TEXT = "web " * (MAX_INPUT_LENGTH - 2)
JSON_HEADERS = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client(stack: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stack.embedder_url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def reference(stack: Any) -> ReferenceEncoder:
    return ReferenceEncoder(stack.embedder_weights)


def embed(client: httpx.Client, inputs: str | list[str], **options: Any) -> npt.NDArray[np.float64]:
    response = client.post("/embed", json={"inputs": inputs, **options})
    assert response.status_code == 200, response.text
    return np.array(response.json())


def tokenize(client: httpx.Client, text: str, **options: Any) -> list[dict[str, Any]]:
    response = client.post("/tokenize", json={"inputs": text, **options})
    assert response.status_code == 200, response.text
    tokens: list[dict[str, Any]]
    (tokens,) = response.json()
    return tokens


def test_health_is_an_empty_200(client: httpx.Client) -> None:
    response = client.get("/health")
    assert (response.status_code, response.content) == (200, b"")


def test_info_describes_the_model_and_the_limits(client: httpx.Client) -> None:
    info = client.get("/info").json()
    expected = {
        "model_id": "sentence-transformers/all-MiniLM-L6-v2",
        "model_sha": None,
        "model_dtype": "int8",
        "model_type": {"embedding": {"pooling": "mean"}},
        "max_concurrent_requests": MAX_CONCURRENT_TEXTS,
        "max_input_length": MAX_INPUT_LENGTH,
        "max_batch_tokens": 16384,
        "max_batch_requests": None,
        "max_client_batch_size": MAX_CLIENT_BATCH_SIZE,
        "auto_truncate": False,
    }
    assert {name: info[name] for name in expected} == expected
    assert info.keys() - expected == {"tokenization_workers", "version", "sha", "docker_label"}


def test_one_text_gives_a_list_of_one_unit_vector(client: httpx.Client) -> None:
    vectors = embed(client, "spider silk")
    assert vectors.shape == (1, DIMENSION)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-5)


def test_vectors_of_a_batch_are_in_the_order_of_the_texts(client: httpx.Client) -> None:
    one_by_one = np.concatenate([embed(client, text) for text in TEXTS])
    together = embed(client, list(TEXTS))
    assert together.shape == (len(TEXTS), DIMENSION)
    similarity = together @ one_by_one.T
    assert similarity.argmax(axis=1).tolist() == list(range(len(TEXTS)))
    # int8 rounding depends on the batch and the CPU; the lowest similarity seen was 0.9988.
    assert similarity.diagonal().min() > 0.995


def test_without_normalize_the_vector_keeps_its_direction_only(client: httpx.Client) -> None:
    unit, raw = embed(client, "spider silk"), embed(client, "spider silk", normalize=False)
    assert np.linalg.norm(raw) != pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(raw / np.linalg.norm(raw), unit, atol=1e-6)


# The floors are below the lowest similarities that int8 rounding caused: 0.995 for 100 English
# passages, 0.989 for 100 fragments of other scripts.
@pytest.mark.parametrize(
    ("texts", "floor"), [(ENGLISH_TEXTS, 0.99), (OTHER_TEXTS, 0.985)], ids=["english", "other"]
)
def test_vectors_agree_with_a_float32_forward_pass(
    client: httpx.Client, reference: ReferenceEncoder, texts: tuple[str, ...], floor: float
) -> None:
    expected = np.stack([reference.embed(text) for text in texts])
    cosines = (embed(client, list(texts)) * expected).sum(axis=1)
    assert cosines.min() >= floor, dict(zip(texts, cosines.round(4), strict=True))


def test_a_paraphrase_is_closer_than_another_topic(client: httpx.Client) -> None:
    vectors = embed(
        client,
        [
            "How do spiders make silk?",
            "Silk is produced by arachnids in special glands.",
            "The central bank raised its interest rate again.",
        ],
    )
    question, paraphrase, other = vectors
    assert question @ paraphrase > 0.5
    assert question @ other < 0.2


@pytest.mark.parametrize("text", TEXTS)
def test_token_offsets_are_utf8_bytes_and_slice_the_text(client: httpx.Client, text: str) -> None:
    tokens = tokenize(client, text)
    inner = [token for token in tokens if not token["special"]]
    encoded = text.encode()
    assert [encoded[t["start"] : t["stop"]].decode() for t in inner] == [t["text"] for t in inner]
    assert all(token["text"] for token in inner)
    starts = [token["start"] for token in inner]
    assert starts == sorted(starts)


def test_tokens_carry_the_fields_of_tei(client: httpx.Client) -> None:
    # Beyond ASCII, byte and character offsets differ: "é" is one character and two bytes.
    assert tokenize(client, "né 北") == [
        {"id": 101, "text": "[CLS]", "special": True, "start": None, "stop": None},
        {"id": 11265, "text": "né", "special": False, "start": 0, "stop": 3},
        {"id": 1781, "text": "北", "special": False, "start": 4, "stop": 7},
        {"id": 102, "text": "[SEP]", "special": True, "start": None, "stop": None},
    ]


def test_tokenize_can_leave_special_tokens_out(client: httpx.Client) -> None:
    tokens = tokenize(client, "spider silk", add_special_tokens=False)
    assert [token["text"] for token in tokens] == ["spider", "silk"]


def test_tokenize_takes_a_batch_and_texts_longer_than_the_model_allows(
    client: httpx.Client,
) -> None:
    response = client.post("/tokenize", json={"inputs": ["web", LONGEST_TEXT * 2]})
    assert [len(tokens) for tokens in response.json()] == [3, 2 * (MAX_INPUT_LENGTH - 2) + 2]


def test_a_text_of_the_maximum_length_is_embedded_whole(client: httpx.Client) -> None:
    assert embed(client, LONGEST_TEXT).shape == (1, DIMENSION)


def test_truncation_ignores_what_follows_the_maximum_length(client: httpx.Client) -> None:
    truncated = embed(client, LONGEST_TEXT + "steel bridges", truncate=True)
    np.testing.assert_allclose(truncated, embed(client, LONGEST_TEXT), atol=1e-6)


@pytest.mark.parametrize(
    ("path", "body", "status", "error_type"),
    [
        ("/embed", {"inputs": ["web"] * 33}, 413, "Validation"),
        ("/tokenize", {"inputs": ["web"] * 33}, 413, "Validation"),
        ("/embed", {"inputs": LONGEST_TEXT + "web"}, 413, "Validation"),
        ("/embed", {"inputs": ["web", LONGEST_TEXT + "web"]}, 413, "Validation"),
        ("/tokenize", {"inputs": "x" * 128_001}, 413, "Validation"),
        ("/embed", {"inputs": ""}, 400, "Empty"),
        ("/embed", {"inputs": []}, 400, "Empty"),
        ("/embed", {"inputs": ["web", ""]}, 400, "Empty"),
        ("/tokenize", {"inputs": ""}, 400, "Empty"),
        ("/tokenize", {"inputs": []}, 400, "Empty"),
    ],
)
def test_refused_inputs_get_the_code_and_type_of_tei(
    client: httpx.Client, path: str, body: dict[str, Any], status: int, error_type: str
) -> None:
    response = client.post(path, json=body)
    assert response.status_code == status
    assert response.json() == {"error": response.json()["error"], "error_type": error_type}


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b'{"inputs": "web"', JSON_HEADERS, 400),
        (b'{"inputs": "\xff"}', JSON_HEADERS, 400),
        (rb'{"inputs": "\ud800"}', JSON_HEADERS, 400),
        (b"[" * 100_000, JSON_HEADERS, 400),
        (b'"web"', JSON_HEADERS, 422),
        (b"{}", JSON_HEADERS, 422),
        (b'{"inputs": null}', JSON_HEADERS, 422),
        (b'{"inputs": ["web", 1]}', JSON_HEADERS, 422),
        (b'{"inputs": "web", "normalize": 1}', JSON_HEADERS, 422),
        (b'{"inputs": "web", "truncate": "yes"}', JSON_HEADERS, 422),
        (b'{"inputs": "web", "prompt_name": "query"}', JSON_HEADERS, 422),
        (b'{"inputs": "web"}', {"content-type": "text/plain"}, 415),
        (b'{"inputs": "' + b"x" * 2_000_000 + b'"}', JSON_HEADERS, 413),
    ],
)
def test_an_unreadable_body_is_refused_in_plain_text(
    client: httpx.Client, content: bytes, headers: dict[str, str], status: int
) -> None:
    response = client.post("/embed", content=content, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text


def test_null_options_mean_the_defaults(client: httpx.Client) -> None:
    options = {"truncate": None, "prompt_name": None, "truncation_direction": "Right"}
    np.testing.assert_array_equal(embed(client, "web", **options), embed(client, "web"))


def test_a_query_is_answered_while_a_large_batch_is_computed(client: httpx.Client) -> None:
    finished = threading.Event()

    def embed_batch() -> None:
        embed(client, [LONGEST_TEXT] * MAX_CLIENT_BATCH_SIZE)
        finished.set()

    with ThreadPoolExecutor(1) as executor:
        batch = executor.submit(embed_batch)
        answered_before = 0
        while not finished.is_set() and not batch.done():
            assert client.get("/health").status_code == 200
            embed(client, "a short query")
            answered_before += not finished.is_set()
        batch.result()
    assert answered_before >= 2


def test_texts_beyond_the_capacity_are_refused_and_abandoned_ones_make_room(
    client: httpx.Client, stack: Any
) -> None:
    batch = {"inputs": [LONGEST_TEXT] * MAX_CLIENT_BATCH_SIZE}

    async def first_answer_of_a_crowd() -> httpx.Response:
        async with httpx.AsyncClient(base_url=stack.embedder_url, timeout=60) as crowd:
            requests = MAX_CONCURRENT_TEXTS // MAX_CLIENT_BATCH_SIZE + 1
            calls = [
                asyncio.ensure_future(crowd.post("/embed", json=batch)) for _ in range(requests)
            ]
            done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            for call in waiting:
                call.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return done.pop().result()

    refused = asyncio.run(first_answer_of_a_crowd())
    assert refused.status_code == 429
    assert refused.json() == {"error": "Model is overloaded", "error_type": "Overloaded"}

    # Computing the abandoned texts would take longer than this deadline.
    deadline = time.monotonic() + 10
    while client.post("/embed", json=batch).status_code == 429:
        assert time.monotonic() < deadline


def test_unknown_paths_and_methods_are_refused(client: httpx.Client) -> None:
    assert client.get("/embed").status_code == 405
    assert client.post("/rerank", json={}).status_code == 404

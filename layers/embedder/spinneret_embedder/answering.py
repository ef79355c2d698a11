"""TEI's routes without HTTP: for a function that is invoked with a route and its body."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from spinneret_embedder.encoder import SentenceEncoder, group_by_length, normalized
from spinneret_embedder.errors import EmbeddingError, UnreadableRequestError
from spinneret_embedder.model_folder import TOKENIZER_FILE, read_card
from spinneret_embedder.payloads import embed_request, tokenize_request
from spinneret_embedder.saying import info, refusal
from spinneret_embedder.tokenization import TextTokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spinneret_embedder.encoder import Vectors

MODEL: Final = Path(__file__).with_name("model")
"""Where the layer's build leaves the converted model."""


class Answering:
    """One loaded model that answers one request at a time, on ``threads`` cores."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the model.

        Raises:
            FileNotFoundError: ``folder`` was not made by ``spinneret_embedder.convert``.
        """
        card = read_card(folder)
        if card is None:
            raise FileNotFoundError(f"{folder} holds no converted model")
        self._card = card
        self._encoder = SentenceEncoder(folder, compute_type=card.compute_type, threads=threads)
        self._tokenizer = TextTokenizer(folder / TOKENIZER_FILE, card.max_input_length)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="encoder")
        self._routes = {
            "/embed": self._embed,
            "/tokenize": self._tokenize,
            "/info": lambda _body: info(card),
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{status, body}`` for ``{path, body}``, as TEI's HTTP answers would have them."""
        route = self._routes.get(request.get("path", ""))
        if route is None:
            return {"status": 404, "body": None}
        try:
            return {"status": 200, "body": route(request.get("body"))}
        except EmbeddingError as error:
            return {"status": error.error_type.status, "body": refusal(error)}
        except UnreadableRequestError as error:
            return {"status": error.status, "body": str(error)}

    def _embed(self, body: Any) -> list[list[float]]:
        wanted = embed_request(body)
        vectors = self._vectors(self._tokenizer.encode(wanted.inputs, truncate=wanted.truncate))
        rows: list[list[float]] = (normalized(vectors) if wanted.normalize else vectors).tolist()
        return rows

    def _tokenize(self, body: Any) -> Any:
        wanted = tokenize_request(body)
        return self._tokenizer.tokenize(wanted.inputs, add_special_tokens=wanted.add_special_tokens)

    def _vectors(self, sequences: Sequence[list[int]]) -> Vectors:
        groups = group_by_length([len(sequence) for sequence in sequences])
        batches = [[sequences[position] for position in group] for group in groups]
        results = {
            position: vector
            for group, vectors in zip(
                groups, self._threads.map(self._encoder.embed, batches), strict=True
            )
            for position, vector in zip(group, vectors, strict=True)
        }
        return np.stack([results[position] for position in range(len(sequences))])

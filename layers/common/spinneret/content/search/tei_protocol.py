"""Protocol of Text Embeddings Inference (TEI), independent of the transport.

This module builds requests and validates responses. `tei` sends them over HTTP, `lambda_embedder`
to a Lambda function of this application.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import EmbedderInfo
from spinneret.content.search import limits
from spinneret.content.vectors import Vector, rounded
from spinneret.kernel import metrics
from spinneret.kernel.clock import Remaining, limit_remaining
from spinneret.kernel.errors import DependencyUnavailable, EmbeddingRefused
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_FIRST_PAUSE: Final = 0.2  # seconds; doubled before the third try
_PIECE_CHARS: Final = 50_000  # TEI rejects 250 characters or more per token of its window
_CONTINUATION: Final = bytes(range(0x80, 0xC0))  # RFC 3629: bytes that begin no character
_LATER: Final = frozenset({408, 425, 429})  # ruling "Backoff"
_SERVER_FAULT: Final = 500


class Unreachable(Exception):
    """Raised if no response came; the message names the kind of error, never the request's
    content."""


@dataclass(frozen=True)
class TeiResponse:
    """An HTTP status and, on success, the body."""

    status: int
    body: Any = None


Send = Callable[[str, str, Any, Remaining], TeiResponse]
"""Function from (method, path, body, time remaining for this try) to a response. Raises
Unreachable, at the latest when no time remains, or DependencyUnavailable if a retry is
pointless."""


@service
class Server:
    """A TEI server; `dependency` is its name in errors."""

    dependency: str
    send: Send
    sleep: Callable[[float], None]
    seconds: float
    """Time limit of one request."""

    def ask(self, method: str, path: str, body: Any, remaining: Remaining) -> Any:
        """Send a request with up to EMBED_ATTEMPTS tries while time remains; a try that hangs uses
        all of it."""
        pause = _FIRST_PAUSE
        for attempt in range(limits.EMBED_ATTEMPTS):
            if attempt:
                self.sleep(min(pause, max(0.0, remaining())))
                pause *= 2
            left = limit_remaining(remaining, self.seconds)
            if left() <= 0:
                break
            try:
                answer = self.send(method, path, body, left)
            except Unreachable as error:
                logger.info(
                    "tei_unreachable", extra={"part": self.dependency, "error_type": str(error)}
                )
                continue
            if 200 <= answer.status < 300:
                return answer.body
            if answer.status not in _LATER and answer.status < _SERVER_FAULT:
                raise EmbeddingRefused(
                    f"the {self.dependency} refused the input",
                    details={"status_code": answer.status},
                )
        raise DependencyUnavailable(self.dependency)


class ProtocolEmbedder:
    """Implements Embedder. `info` is requested once and cached, since a new model requires a
    deployment."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._info: EmbedderInfo | None = None

    def info(self, remaining: Remaining) -> EmbedderInfo:
        """See Embedder. TEI doesn't report the dimension, so a short text is embedded to determine
        it."""
        if self._info is None:
            answer = self._ask("GET", "/info", None, remaining)
            [probe] = self._ask("POST", "/embed", {"inputs": ["dimension"]}, remaining)
            self._info = EmbedderInfo(
                model_id=answer["model_id"],
                dimension=len(probe),
                max_input_tokens=answer["max_input_length"],
                max_batch=answer["max_client_batch_size"],
            )
        return self._info

    def tokenize(self, text: str, remaining: Remaining) -> list[TokenSpan]:
        spans: list[TokenSpan] = []
        for begin, end in pieces(text, _PIECE_CHARS):
            piece = text[begin:end]
            body = {"inputs": piece, "add_special_tokens": False}
            [tokens] = self._ask("POST", "/tokenize", body, remaining)
            offsets = [(token["start"], token["stop"]) for token in tokens]
            spans += [
                TokenSpan(start=begin + start, end=begin + stop)
                for start, stop in characters_of(piece, offsets)
            ]
        return spans

    def embed(self, texts: Sequence[str], remaining: Remaining) -> list[Vector]:
        """See Embedder. Vectors are validated first, then normalised here rather than by the
        server."""
        dimension = self.info(remaining).dimension
        body = {"inputs": list(texts), "normalize": False, "truncate": False}
        started = time.perf_counter()
        vectors = self._ask("POST", "/embed", body, remaining)
        metrics.EMBEDDING_DURATION.add(round((time.perf_counter() - started) * 1000, 1))
        if len(vectors) != len(texts):
            raise EmbeddingRefused("the embedder returned a wrong number of vectors")
        return [unit(vector, dimension) for vector in vectors]

    def _ask(self, method: str, path: str, body: Any, remaining: Remaining) -> Any:
        try:
            return self._server.ask(method, path, body, remaining)
        except DependencyUnavailable:
            metrics.EMBEDDER_ERRORS.add()
            raise


class ProtocolReranker:
    """Implements Reranker."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._max_batch: int | None = None

    def rerank(self, query: str, texts: Sequence[str], remaining: Remaining) -> list[float]:
        """See Reranker. TEI sorts a batch by score; `index` restores the order of the texts."""
        if self._max_batch is None:
            answer = self._server.ask("GET", "/info", None, remaining)
            self._max_batch = int(answer["max_client_batch_size"])
        scores: list[float] = []
        for start in range(0, len(texts), self._max_batch):
            part = list(texts[start : start + self._max_batch])
            body = {"query": query, "texts": part, "truncate": True, "raw_scores": False}
            ranks = self._server.ask("POST", "/rerank", body, remaining)
            by_index: dict[int, Any] = {int(rank["index"]): rank["score"] for rank in ranks}
            if set(by_index) != set(range(len(part))):
                raise EmbeddingRefused("the reranker's response doesn't match the request")
            if None in by_index.values() or not all(map(math.isfinite, by_index.values())):
                raise EmbeddingRefused("a score isn't finite")
            scores += [float(by_index[number]) for number in range(len(part))]
        return scores


def pieces(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most `size` characters that cover the text, cut at blanks if possible.

    Blank pieces are skipped, since they contain no tokens.
    """
    begin = 0
    while begin < len(text):
        end = min(begin + size, len(text))
        if end < len(text):
            blank = max(text.rfind("\n", begin, end), text.rfind(" ", begin, end))
            end = blank + 1 if blank >= begin else end
        if not text[begin:end].isspace():
            yield begin, end
        begin = end


def characters_of(text: str, offsets: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Convert ascending UTF-8 byte ranges, as returned by TEI's `/tokenize`, to character ranges.

    A token may begin or end inside a character (byte-level vocabularies). Its range then includes
    the whole character.
    """
    if text.isascii():
        yield from offsets
        return
    data = text.encode()
    position = index = 0
    for start, stop in offsets:
        index += _leads(data[position:start])
        inside = start < len(data) and data[start] in _CONTINUATION
        first = index - inside
        index += _leads(data[start:stop])
        position = stop
        yield first, index


def _leads(data: bytes) -> int:
    """Return the number of characters that begin in these bytes."""
    return len(data.translate(None, _CONTINUATION))


def unit(vector: Sequence[float], dimension: int) -> Vector:
    """Normalise a vector to length 1 and round it; raise EmbeddingRefused if it can't be a text's
    embedding."""
    if len(vector) != dimension:
        raise EmbeddingRefused(f"a vector has {len(vector)} dimensions instead of {dimension}")
    try:
        norm = math.sqrt(math.fsum(value * value for value in vector))
    except (TypeError, OverflowError) as error:  # TEI writes NaN as null
        raise EmbeddingRefused("a vector isn't finite") from error
    if not math.isfinite(norm):
        raise EmbeddingRefused("a vector isn't finite")
    if norm < limits.EMBED_MIN_NORM:
        raise EmbeddingRefused("a vector is close to zero")
    return rounded([value / norm for value in vector])

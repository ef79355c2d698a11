"""Embedder and reranker over HTTP, with the API of Text Embeddings Inference (TEI)."""

import time
from collections.abc import Callable
from typing import Any, Final, Protocol

import httpx

from spinneret.content.search import limits
from spinneret.content.search.tei_protocol import (
    ProtocolEmbedder,
    ProtocolReranker,
    Server,
    TeiResponse,
    Unreachable,
)
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable

_REFUSES_CREDENTIALS: Final = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN})


class Credentials(Protocol):
    """A secret that is cached after the first read."""

    def value(self) -> str:
        """Return the secret; raise DependencyUnavailable."""

    def forget(self) -> None:
        """Drop the cached value, so that the next call reads it again."""


class TeiEmbedder(ProtocolEmbedder):
    """An embedder at a URL."""

    def __init__(
        self,
        base_url: str,
        client: httpx.Client,
        sleep: Callable[[float], None] = time.sleep,
        seconds: float = limits.EMBED_SECONDS,
        credentials: Credentials | None = None,
    ) -> None:
        """Take `seconds` as the time limit of one request and `credentials` as the value of the
        Authorization header."""
        send = _Http("embedder", base_url, client, credentials).send
        super().__init__(Server(dependency="embedder", send=send, sleep=sleep, seconds=seconds))


class TeiReranker(ProtocolReranker):
    """A reranker at a URL."""

    def __init__(
        self,
        base_url: str,
        client: httpx.Client,
        sleep: Callable[[float], None] = time.sleep,
        credentials: Credentials | None = None,
    ) -> None:
        send = _Http("reranker", base_url, client, credentials).send
        super().__init__(
            Server(dependency="reranker", send=send, sleep=sleep, seconds=limits.RERANK_SECONDS)
        )


class _Http:
    """Sends requests over HTTP."""

    def __init__(
        self,
        dependency: str,
        base_url: str,
        client: httpx.Client,
        credentials: Credentials | None,
    ) -> None:
        self._dependency = dependency
        self._base_url = base_url.rstrip("/")
        self._client = client
        self._credentials = credentials
        self._refused = False

    def send(self, method: str, path: str, body: Any, left: Remaining) -> TeiResponse:
        """See `tei_protocol.Send`. Rejected credentials are read once more, since they may have
        been replaced."""
        headers = {} if self._credentials is None else {"Authorization": self._credentials.value()}
        seconds = left()
        if seconds <= 0:
            raise Unreachable("NoTimeLeft")
        try:
            response = self._client.request(
                method, self._base_url + path, json=body, headers=headers, timeout=seconds
            )
        except httpx.HTTPError as error:
            raise Unreachable(type(error).__name__) from None
        if response.status_code in _REFUSES_CREDENTIALS:
            raise self._unauthorised(response.status_code)
        self._refused = False
        try:
            body = response.json() if response.is_success else None
        except ValueError:  # the page of a proxy in between
            raise Unreachable("NoJson") from None
        return TeiResponse(response.status_code, body)

    def _unauthorised(self, status: int) -> Exception:
        if self._credentials is None or self._refused:
            self._refused = False
            return DependencyUnavailable(self._dependency, "refuses the credentials")
        self._credentials.forget()
        self._refused = True
        return Unreachable(f"HTTP {status}")

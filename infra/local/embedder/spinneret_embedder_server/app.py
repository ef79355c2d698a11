"""HTTP routes of the TEI protocol."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from spinneret_embedder.encoder import normalized
from spinneret_embedder.errors import EmbeddingError, ErrorType, UnreadableRequestError
from spinneret_embedder.payloads import embed_request, tokenize_request
from spinneret_embedder.saying import info, refusal
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from spinneret_embedder_server.bodies import read_body

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from spinneret_embedder.encoder import Vectors
    from spinneret_embedder.model_folder import ModelCard
    from spinneret_embedder.tokenization import TextTokenizer

    from spinneret_embedder_server.scheduler import EmbeddingScheduler

_log = logging.getLogger(__name__)


class Endpoints:
    """Handlers over one loaded model."""

    def __init__(
        self, card: ModelCard, tokenizer: TextTokenizer, scheduler: EmbeddingScheduler
    ) -> None:
        self._card = card
        self._tokenizer = tokenizer
        self._scheduler = scheduler

    async def embed(self, request: Request) -> Response:
        wanted = embed_request(await read_body(request))
        sequences = await run_in_threadpool(
            self._tokenizer.encode, wanted.inputs, truncate=wanted.truncate
        )
        vectors = await _while_connected(request, self._scheduler.embed(sequences))
        return JSONResponse((normalized(vectors) if wanted.normalize else vectors).tolist())

    async def tokenize(self, request: Request) -> Response:
        wanted = tokenize_request(await read_body(request))
        tokens = await run_in_threadpool(
            self._tokenizer.tokenize, wanted.inputs, add_special_tokens=wanted.add_special_tokens
        )
        return JSONResponse(tokens)

    async def info(self, _request: Request) -> Response:
        return JSONResponse(info(self._card))

    async def health(self, _request: Request) -> Response:
        return Response()


def create_app(
    card: ModelCard, tokenizer: TextTokenizer, scheduler: EmbeddingScheduler
) -> Starlette:
    """Return the ASGI application; it closes ``scheduler`` when it shuts down."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        scheduler.close()

    endpoints = Endpoints(card, tokenizer, scheduler)
    return Starlette(
        routes=[
            Route("/embed", endpoints.embed, methods=["POST"]),
            Route("/tokenize", endpoints.tokenize, methods=["POST"]),
            Route("/info", endpoints.info),
            Route("/health", endpoints.health),
        ],
        exception_handlers={
            EmbeddingError: _refuse,
            UnreadableRequestError: _refuse_unread,
            ClientDisconnect: _abandon,
        },
        lifespan=lifespan,
    )


async def _while_connected(request: Request, work: Coroutine[Any, Any, Vectors]) -> Vectors:
    """Await ``work``, or cancel it when the client disconnects, so that its retry needn't wait."""
    task = asyncio.ensure_future(work)
    departure = asyncio.ensure_future(_departure(request))
    try:
        await asyncio.wait({task, departure}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    except asyncio.CancelledError as error:
        # uvicorn cancels the requests that outlive the grace period of a shutdown.
        raise EmbeddingError(ErrorType.UNHEALTHY, "the server is shutting down") from error
    finally:
        task.cancel()
        departure.cancel()


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, EmbeddingError)
    level = logging.ERROR if error.error_type is ErrorType.BACKEND else logging.WARNING
    _log.log(level, "%s refused: %s: %s", request.url.path, error.error_type.label, error)
    return JSONResponse(refusal(error), status_code=error.error_type.status)


async def _refuse_unread(request: Request, error: Exception) -> Response:
    assert isinstance(error, UnreadableRequestError)
    _log.warning("%s refused: %s", request.url.path, error)
    # The rest of a rejected body is never read, so the connection cannot serve another request.
    return PlainTextResponse(str(error), error.status, headers={"connection": "close"})


async def _abandon(request: Request, _error: Exception) -> Response:
    _log.warning("%s abandoned by the client", request.url.path)
    return Response(status_code=499)  # the client doesn't read it

"""Routes: search."""

from __future__ import annotations

import time
from typing import cast

from aws_lambda_powertools.event_handler.api_gateway import Router

from spinneret.content.search.api_models import SearchRequest, SearchResponse
from spinneret.content.search.views import response_of
from spinneret.content.search.wiring import SearchApi
from spinneret.kernel.errors import EmbeddingRefused
from spinneret.runtime.http.requests import principal
from spinneret.runtime.openapi.answers import answers

router = Router()  # type: ignore[no-untyped-call]  # published without a signature


@router.post("/api/v1/search", **answers({200: SearchResponse}, EmbeddingRefused))
def hybrid_search(request: SearchRequest) -> SearchResponse:
    """Search by meaning and by words, fused by weighted reciprocal rank."""
    started = time.perf_counter()
    services = cast(SearchApi, router.context["services"])
    found = services.search.search(request.query_of(principal(router).tenant))
    return response_of(found, (time.perf_counter() - started) * 1000)

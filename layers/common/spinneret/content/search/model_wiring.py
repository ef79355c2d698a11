"""Wiring of the embedder function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinneret.kernel.clock import Remaining
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ModelSettings(Settings):
    """Settings of the embedder function."""

    embedder_threads: int
    """Number of threads; matches the vCPUs that the function's memory provides."""


def embedder_handler(env: Mapping[str, str]) -> Any:
    """Return the handler from (`{path, body}`, remaining time) to `{status, body}`."""
    settings = ModelSettings.from_env(env)
    # Only this function has the layer.
    from spinneret_embedder.answering import MODEL, Answering  # noqa: PLC0415 - see above

    model = Answering(MODEL, settings.embedder_threads)

    def answer(request: Mapping[str, Any], _remaining: Remaining) -> Any:
        return model.answer(request)

    return answer

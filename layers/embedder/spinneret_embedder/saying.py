"""Responses of TEI's protocol as JSON: model information and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spinneret_embedder import __version__, limits

if TYPE_CHECKING:
    from spinneret_embedder.errors import EmbeddingError
    from spinneret_embedder.model_folder import ModelCard


def info(card: ModelCard) -> dict[str, Any]:
    """Return TEI's ``/info``: its fields, null where they have no meaning here."""
    return {
        "model_id": card.model_id,
        "model_sha": None,
        "model_dtype": card.compute_type,
        "model_type": {"embedding": {"pooling": "mean"}},
        "max_concurrent_requests": limits.MAX_CONCURRENT_REQUESTS,
        "max_input_length": card.max_input_length,
        "max_batch_tokens": limits.MAX_BATCH_TOKENS,
        "max_batch_requests": None,
        "max_client_batch_size": limits.MAX_CLIENT_BATCH_SIZE,
        "auto_truncate": False,
        "tokenization_workers": 1,
        "version": __version__,
        "sha": None,
        "docker_label": None,
    }


def refusal(error: EmbeddingError) -> dict[str, str]:
    """Return the body of a refused request."""
    return {"error": str(error), "error_type": error.error_type.label}

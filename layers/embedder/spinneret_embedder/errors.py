"""Refusals, with the codes of Text Embeddings Inference (TEI).

TEI answers in two forms, and so does this server: a JSON ``{error, error_type}`` once a request has
been understood, and plain text when it could not be read at all.
"""

from __future__ import annotations

from enum import Enum


class ErrorType(Enum):
    """TEI's error types: name on the wire and HTTP status."""

    EMPTY = ("Empty", 400)
    VALIDATION = ("Validation", 413)
    TOKENIZER = ("Tokenizer", 422)
    BACKEND = ("Backend", 424)
    OVERLOADED = ("Overloaded", 429)
    UNHEALTHY = ("Unhealthy", 503)

    def __init__(self, label: str, status: int) -> None:
        self.label = label
        self.status = status


class EmbeddingError(Exception):
    """A request that was understood and cannot be served."""

    def __init__(self, error_type: ErrorType, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


class UnreadableRequestError(Exception):
    """A body that is too large, not JSON, or not of the route's shape."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def empty_input() -> EmbeddingError:
    return EmbeddingError(ErrorType.EMPTY, "Input validation error: `inputs` cannot be empty")


def invalid_input(reason: str) -> EmbeddingError:
    return EmbeddingError(ErrorType.VALIDATION, f"Input validation error: {reason}")

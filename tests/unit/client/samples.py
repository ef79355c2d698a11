"""Sample responses of the API, with all fields that the generated models require."""

import types
import typing
from typing import Any

from spinneret_client.generated import models as m
from spinneret_client.model import Model


def sample(model: type[Model], **values: Any) -> dict[str, Any]:
    """Return a response with all required fields, each empty unless given."""
    hints = typing.get_type_hints(model)
    found = {
        name: _empty(hints[name])
        for name, field in model.model_fields.items()
        if field.is_required() and name not in values
    }
    return {**found, **values}


def _empty(hint: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(hint)
        return None if type(None) in options else _empty(options[0])
    if origin is typing.Literal:
        return typing.get_args(hint)[0]
    plain = origin or hint
    if isinstance(plain, type) and issubclass(plain, Model):
        return sample(plain)
    return plain() if plain in (str, int, float, bool, list, dict) else None


def crawl(status: str = "completed", **values: Any) -> dict[str, Any]:
    return sample(m.CrawlView, job_id="job_1", status=status, **values)


def audit(status: str = "completed", **values: Any) -> dict[str, Any]:
    return sample(m.AuditView, audit_id="audit_1", status=status, **values)


def failure(code: str, message: str, **details: Any) -> dict[str, Any]:
    return {"code": code, "error": message, "details": details}


def hit(**values: Any) -> dict[str, Any]:
    found = {
        "document_id": "doc_1",
        "url": "https://example.com/silk",
        "title": "Silk [of] spiders",
        "content": "The sticky silk of the spiral",
        "highlights": [[4, 10]],
        "score": 0.75,
        "vector_score": 0.65,
        "keyword_score": 0.2,
        "source": "fused",
    }
    return sample(m.SearchHit, **{**found, **values})


def found(*hits: dict[str, Any], **values: Any) -> dict[str, Any]:
    return sample(m.SearchResponse, results=list(hits), total_count=len(hits), **values)

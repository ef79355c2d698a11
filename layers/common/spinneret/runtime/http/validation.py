"""Validation errors of a request, field by field."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, get_args

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.kernel.field_messages import message_of
from spinneret.kernel.hints import nearest

_UNKNOWN: Final = "extra_forbidden"
_FIELDS_SHOWN: Final = 100  # a body of 5 MB may have half a million wrong fields


def invalid(error: RequestValidationError | ValidationError, model: Any = None) -> ValidationFailed:
    """Return the error for a request, or part of one, that its route's signature refuses.

    `model` is the type of the body, whose fields hints name.
    """
    fields = []
    for each in error.errors()[:_FIELDS_SHOWN]:
        place = [part for part in each["loc"] if part != "body"]
        path = ".".join(map(str, place)) or "body"
        hint = (each.get("ctx") or {}).get("hint")
        if each["type"] == _UNKNOWN and place:
            hint = nearest(str(place[-1]), field_names(model, place[:-1]))
        fields.append(field_error(path, message_of(each), hint))
    return ValidationFailed(
        f"invalid: {', '.join(field['path'] for field in fields)}", details={"fields": fields}
    )


def refuse_unknown(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise ValidationFailed for query parameters that the route doesn't have.

    If they were ignored, the answer would be to a different question.
    """
    fields = [
        field_error(name, "is unknown", nearest(name, known))
        for name in sorted(set(given) - set(known))
    ]
    if fields:
        raise ValidationFailed(
            f"unknown: {', '.join(field['path'] for field in fields)}", details={"fields": fields}
        )


def field_names(model: Any, place: Sequence[str | int]) -> list[str]:
    """Return names and aliases of the fields at a place of a type; [] if it has no model there."""
    models = list(_models(model))
    for part in place:
        inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if inner:  # else a list's index or the name of a union's alternative
            models = [each for annotation in inner for each in _models(annotation)]
    found = [(name, field.alias) for each in models for name, field in each.model_fields.items()]
    return list(dict.fromkeys(name for names in found for name in names if name))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type such as `list[A] | B`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)

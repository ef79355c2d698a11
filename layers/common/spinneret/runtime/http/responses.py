"""Responses of routes that create something."""

from aws_lambda_powertools.event_handler import Response, content_types


def created[T](body: T) -> Response[T]:
    """Return the response 201 with what was created."""
    return Response(status_code=201, content_type=content_types.APPLICATION_JSON, body=body)


def created_secret[T](body: T) -> Response[T]:
    """Return the response 201 with a secret, which no cache may keep."""
    return Response(
        status_code=201,
        content_type=content_types.APPLICATION_JSON,
        body=body,
        headers={"Cache-Control": "no-store"},
    )

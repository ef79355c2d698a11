"""Preparation of a request's headers and body for the resolver."""

import base64
import binascii
from typing import Final

from aws_lambda_powertools.event_handler import content_types

from spinneret.access.keys.models import Principal
from spinneret.access.uploads.service import UploadService
from spinneret.kernel.errors import ValidationFailed
from spinneret.runtime.http.admission import Event

_JSON: Final = content_types.APPLICATION_JSON
_FORM: Final = "application/x-www-form-urlencoded"
_UPLOAD_ID: Final = "Upload-Id"


def with_headers(event: Event) -> Event:
    """Return the event with lower-case header names."""
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    return {**event, "headers": headers, "multiValueHeaders": None}


def without_body(event: Event) -> Event:
    """Return the event without a body, for a route that reads none.

    Clients send `{}`, or an empty form, with a POST that needs no body; it must not be refused.
    """
    return {**event, "body": None, "isBase64Encoded": False}


def with_plain_body(event: Event) -> Event:
    """Return the event with its body as plain text, for a route that verifies the body's signature.

    Any content type is accepted. Raises ValidationFailed.
    """
    return {**event, "body": _text(event), "isBase64Encoded": False}


def with_upload(event: Event, caller: Principal | None, uploads: UploadService) -> Event:
    """Return the event with the uploaded body that its Upload-Id names.

    Raises ValidationFailed, NotFound, BodyTooLarge and DependencyUnavailable.
    """
    upload_id = event["headers"].get(_UPLOAD_ID.lower())
    if upload_id is None or caller is None:
        return event
    if event.get("body"):
        raise ValidationFailed.of_field(_UPLOAD_ID, "send either a body or an Upload-Id")
    body = _decoded(uploads.body(caller.tenant, upload_id))
    return {**event, "body": body, "isBase64Encoded": False}


def with_body(event: Event) -> Event:
    """Return the event with its body as text, after a check that the content type is JSON.

    A form that looks like JSON counts as JSON, since `curl -d` calls every body a form.
    Raises ValidationFailed.
    """
    body = _text(event)
    headers = event["headers"]
    media_type = (headers.get("content-type") or _JSON).partition(";")[0].strip().lower()
    is_mislabelled = media_type == _FORM and (body or "").lstrip().startswith(("{", "["))
    if body and media_type != _JSON and not is_mislabelled:
        raise ValidationFailed.of_field(
            "content-type", f"the body must be {_JSON}", f"send `Content-Type: {_JSON}`"
        )
    headers = {**headers, "content-type": _JSON}
    return {**event, "headers": headers, "body": body, "isBase64Encoded": False}


def _text(event: Event) -> str | None:
    """Return the body as text; API Gateway and its emulators encode non-UTF-8 bodies as base64."""
    body: str | None = event.get("body")
    if not body or not event.get("isBase64Encoded"):
        return body
    try:
        return _decoded(base64.b64decode(body, validate=True))
    except binascii.Error as error:
        raise ValidationFailed.of_field("body", "the body is not base64") from error


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationFailed.of_field("body", "the body is not UTF-8") from error

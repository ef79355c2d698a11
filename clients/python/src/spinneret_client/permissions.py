"""Checks of a credential's permissions that have no effect on the server."""

from __future__ import annotations

from spinneret_client.client import Spinneret
from spinneret_client.errors import ApiError, AuthRequired, Forbidden, ServerError


def may(client: Spinneret, method: str, path: str) -> bool:
    """Return whether the credential may use a route.

    The request has an empty body: the server checks the permission first, then rejects the body.
    Raises AuthRequired, ServerError.
    """
    try:
        client.request(method, path, body={})
    except Forbidden:
        return False
    except (AuthRequired, ServerError):
        raise
    except ApiError:
        return True
    return True

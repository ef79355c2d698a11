"""Opaque cursors: where a list goes on, spelled so that nobody builds on what is inside."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.ids import is_id


def cursor_of(position: str | None) -> str | None:
    """The cursor of an id; None of None."""
    return None if position is None else base64.urlsafe_b64encode(position.encode()).decode()


def position_of(cursor: str | None, is_position: Callable[[str], bool] = is_id) -> str | None:
    """The inverse of `cursor_of`; raises ValidationFailed for what isn't a cursor."""
    if cursor is None:
        return None
    try:
        position = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        position = ""
    if not is_position(position):
        raise ValidationFailed("not a cursor", details={"fields": [{"field": "cursor"}]})
    return position

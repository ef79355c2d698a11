"""Parse times and positions of requests."""

import re
from datetime import UTC, datetime
from typing import Final

from spinneret.kernel.errors import ValidationFailed

_POSITION: Final = re.compile(r"[0-9T:.-]{26}Z#[A-Za-z0-9_-]{1,80}")


def moment_of(field: str, text: str) -> datetime:
    """Parse an RFC 3339 time with a UTC offset. Raises ValidationFailed."""
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))  # a plus sign decodes to a space
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValidationFailed.of_field(
        field, f"{field} isn't a time with its offset from UTC", "write it as 2026-01-02T12:00:00Z"
    )


def is_position(text: str) -> bool:
    """Return whether `text` has the form of a sort key by time and id: of a target, a result or an
    incident."""
    return _POSITION.fullmatch(text) is not None


def one_cursor(cursor: str | None, page_token: str | None) -> str | None:
    """Return the cursor given under either name. Raises ValidationFailed if both differ."""
    if cursor is not None and page_token is not None and cursor != page_token:
        raise ValidationFailed.of_field("page_token", "cursor and page_token differ")
    return cursor if cursor is not None else page_token

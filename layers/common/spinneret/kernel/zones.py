"""Time zones by their names in the IANA database."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from spinneret.kernel.errors import ValidationFailed


def require_zone(name: str, path: str = "timezone") -> None:
    """Raise ValidationFailed for an unknown time zone; `path` names the field of the request."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # unknown, malformed, or a folder
        reason = "is not a name of the IANA time zone database"
        raise ValidationFailed.about(path, reason) from None

"""Parse times and page parameters of requests."""

from datetime import UTC, datetime

from spinneret.kernel.errors import ValidationFailed


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


def one_of(name: str, value: str | None, other_name: str, other: str | None) -> str | None:
    """Return the value given under either name. Raises ValidationFailed if both differ."""
    if value is not None and other is not None and value != other:
        raise ValidationFailed.of_field(other_name, f"{name} and {other_name} differ")
    return value if value is not None else other

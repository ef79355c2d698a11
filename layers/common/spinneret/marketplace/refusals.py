"""Meanings of a marketplace's refusals: the field, the cause and the fix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spinneret.kernel.errors import MarketplaceRefused, MarketplaceUnsettled, field_error
from spinneret.redaction import redact_text


class ErrorClass(StrEnum):
    """Consequence of a marketplace's error."""

    REFUSED = "refused"
    """The same request will fail again: something has to change first."""
    READ_BACK = "read_back"
    """The marketplace may not show yet what it did just before: read it back and repeat, for some
    minutes; then it counts as refused."""
    FAULT = "fault"
    """The marketplace's own fault, which isn't the seller's: read back and repeat, for some
    minutes; then the marketplace counts as unavailable."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """One error of a marketplace, in our words."""

    field: str
    """A field of the product or of the job, or `connection`, `request`, `marketplace`."""
    cause: str
    fix: str
    error_class: ErrorClass = ErrorClass.REFUSED


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One error of a response."""

    id: str
    meaning: Meaning
    said: str
    """Message of the marketplace itself."""

    @property
    def view(self) -> Mapping[str, Any]:
        """Entry for the details of an exception."""
        meaning = self.meaning
        said = redact_text(self.said)  # it may repeat a token
        return field_error(meaning.field, said, meaning.fix, id=self.id, cause=meaning.cause)


def refusal_error(marketplace: str, status: int, problems: Sequence[Problem]) -> MarketplaceRefused:
    """Build the exception for a refusal with these problems."""
    causes = "; ".join(f"{each.meaning.field}: {each.meaning.cause}" for each in problems)
    return MarketplaceRefused(
        f"{marketplace} refuses: {causes}",
        details={
            "marketplace": marketplace,
            "status": status,
            "fields": [dict(each.view) for each in problems],
        },
    )


def answer_error(
    marketplace: str, status: int, problems: Sequence[Problem]
) -> MarketplaceRefused | MarketplaceUnsettled:
    """Build the exception for a response with these problems, by their classes.

    One refused problem is enough for a refusal: the request would fail again.
    """
    refusal = refusal_error(marketplace, status, problems)
    classes = {each.meaning.error_class for each in problems}
    if ErrorClass.REFUSED in classes:
        return refusal
    return MarketplaceUnsettled(
        refusal.message,
        details=refusal.details,
        otherwise=None if ErrorClass.FAULT in classes else refusal,
    )

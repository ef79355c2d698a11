"""Meanings of a marketplace's refusals: the field, the cause and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spinneret.kernel.errors import MarketplaceRefused


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """One error of a marketplace, in our words."""

    field: str
    """A field of the product or of the job, or `connection`, `request`, `marketplace`."""
    cause: str
    fix: str | None = None


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
        known = {"id": self.id, "field": self.meaning.field, "cause": self.meaning.cause}
        fix = {} if self.meaning.fix is None else {"fix": self.meaning.fix}
        return {**known, **fix, "message": self.said}


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

"""Requests and responses of preferences."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from spinneret.kernel.views import Timestamp, View


class PreferencesChange(BaseModel):
    """Changed preferences; omitted ones are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    is_paused: bool | None = None
    """Whether jobs that list or revise wait; null keeps the present state."""

    def changes(self) -> dict[str, Any]:
        """Return the changed fields of `Preferences`, without the pause."""
        return self.model_dump(exclude_unset=True, exclude={"is_paused"})


class PreferencesView(View):
    """A seller's preferences for one marketplace."""

    marketplace: str
    paused_at: Timestamp | None
    """Time since which jobs that list or revise wait (RFC 3339, UTC); null if they don't. Orders
    are still read, and what was sold elsewhere is still taken from the listings."""

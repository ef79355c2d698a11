"""Data types of the plug-in's protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from spinneret.jobs.models import JobRef

TOO_SLOW: Final = 408  # an intermediary gave up: what the marketplace did is unknown


@dataclass(frozen=True, kw_only=True)
class PluginRequest:
    """A request that the plug-in sends in the seller's browser."""

    method: str
    path: str
    body: Mapping[str, Any]
    photo_url: str | None = None
    """URL of an image that the plug-in loads and sends as a file."""
    once: str | None = None
    """Name of the request instead of its task and content, such as that of an action that not even
    another job may repeat."""


@dataclass(frozen=True, kw_only=True)
class PluginAnswer:
    """The marketplace's answer to a request."""

    status: int
    body: Mapping[str, Any]

    @property
    def is_refusal(self) -> bool:
        """Whether the answer proves that nothing was done: a 4xx with a reason.

        An answer without a reason may come from an intermediary, and any other status may come
        after the action.
        """
        return (
            400 <= self.status < 500
            and self.status != TOO_SLOW
            and any(self.body.get(name) for name in ("message", "code", "errors"))
        )


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The last round of a request that was sent to a plug-in, and its outcome."""

    number: int
    """Number of the round: how often the request was begun again."""
    sent_at: datetime
    accepted_by: str | None
    """Name of the only browser that may act on it."""
    accepted_at: datetime | None
    """Time at which that browser first accepted it."""
    answer: PluginAnswer | None
    contents: frozenset[str] = frozenset()
    """Fingerprints of the contents sent under its key; several if the content changed meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A connected browser."""

    tenant: str
    connection_id: str
    marketplace: str
    connected_at: datetime
    browser: str
    """Name that the browser gives itself, the same over all its connections."""
    only_job: str | None = None
    """Only job or batch whose tasks it gets, if a ticket opened its connection."""


@dataclass(frozen=True, kw_only=True)
class CallbackWait:
    """A state of an execution that waits for a plug-in's answer."""

    ref: JobRef
    fence: int
    """Fence under which the job began to wait."""
    key: str
    token: str = field(repr=False)

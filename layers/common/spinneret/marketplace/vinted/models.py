"""Values of the plug-in's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spinneret.jobs.models import JobRef


@dataclass(frozen=True, kw_only=True)
class PluginRequest:
    """What the plug-in is to do in the seller's browser."""

    method: str
    path: str
    body: Mapping[str, Any]
    photo_url: str | None = None
    """An image that the plug-in loads and sends as a file."""
    once: str | None = None
    """Names what must not be done twice, whichever job asks for it."""


@dataclass(frozen=True, kw_only=True)
class PluginAnswer:
    """What the marketplace answered to it."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A request that was sent to a plug-in, and what came of it."""

    sent_at: datetime
    accepted_by: str | None
    """The one browser that may act on it."""
    accepted_at: datetime | None
    """When it first said that it would."""
    answer: PluginAnswer | None
    contents: frozenset[str] = frozenset()
    """Fingerprints of what was sent under its key: more than one if it changed meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A browser that is connected."""

    tenant: str
    connection_id: str
    marketplace: str
    connected_at: datetime
    browser: str
    """What it calls itself, over all its connections."""
    only_job: str | None = None
    """The one job or batch whose tasks it gets, if a ticket opened its connection."""


@dataclass(frozen=True, kw_only=True)
class CallbackWait:
    """A state of an execution that waits for a plug-in's answer."""

    ref: JobRef
    fence: int
    """Under which the job began to wait."""
    key: str
    token: str = field(repr=False)

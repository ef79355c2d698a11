"""Rule function, every minute: brings back jobs whose message or worker was lost, and hands on
events that were left."""

from __future__ import annotations

from spinneret.operations.sweeper_wiring import sweeper
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(sweeper, "sweeper")

"""Rule function, every minute: brings back jobs whose message or worker was lost."""

from __future__ import annotations

from spinneret.jobs.wiring import sweep_pass
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(sweep_pass, "sweeper")

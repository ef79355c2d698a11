"""Rule function, every minute: begins the runs of sources that are due, and follows the others."""

from __future__ import annotations

from spinneret.operations.sources_wiring import source_pass
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(source_pass, "source-tick")

"""Rule function, every minute: starts the runs of sources that are due, and advances the others."""

from spinneret.runtime.scheduled import scheduled_entrypoint
from spinneret.sources.wiring import source_pass

handler = scheduled_entrypoint(source_pass, "source-tick")

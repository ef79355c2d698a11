"""Rule function, every 5 minutes: retries dead letters."""

from spinneret.jobs.wiring import redrive_pass
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(redrive_pass, "redrive")

"""Rule function, every minute: recovers jobs with lost messages or workers, relays events."""

from spinneret.operations.sweeper_wiring import sweeper
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(sweeper, "sweeper")

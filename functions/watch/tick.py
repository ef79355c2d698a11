"""Rule function, every minute: sends the checks of the next minute as delayed messages."""

from spinneret.monitoring.due.wiring import tick
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(tick, "tick")

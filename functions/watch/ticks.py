"""Rule function, every minute: sends the ticks of the minute as delayed messages."""

from spinneret.monitoring.due.wiring import announcer
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(announcer, "ticks")

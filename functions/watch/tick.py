"""Queue function of ticks: assigns due targets to the check workers."""

from spinneret.monitoring.due.messages import tick_of
from spinneret.monitoring.due.wiring import tick
from spinneret.runtime.queue import message_entrypoint

handler = message_entrypoint(tick_of, tick, "tick")

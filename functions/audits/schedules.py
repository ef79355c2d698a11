"""Rule function, every minute: submits the audits that are due."""

from spinneret.audits.wiring import schedule_pass
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(schedule_pass, "audit-schedules")

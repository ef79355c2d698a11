"""Queue function of checks: makes the checks of a message."""

from spinneret.monitoring.checks.worker_wiring import check_worker
from spinneret.monitoring.due.messages import checks_of
from spinneret.runtime.queue import message_entrypoint

handler = message_entrypoint(checks_of, check_worker, "check-worker")

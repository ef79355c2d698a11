"""Queue function of checks: performs the checks of a tick's list."""

from spinneret.monitoring.checks.worker_wiring import check_worker
from spinneret.monitoring.due.messages import list_of
from spinneret.runtime.queue import message_entrypoint

handler = message_entrypoint(list_of, check_worker, "check-worker")

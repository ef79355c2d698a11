"""Queue function of the audit lane."""

from spinneret.audits.worker_wiring import audit_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(audit_worker, "audit-worker")

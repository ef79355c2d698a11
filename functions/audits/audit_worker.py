"""Queue function of the audit lane."""

from __future__ import annotations

from spinneret.audits.worker_wiring import audit_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(audit_worker, "audit-worker")

"""Queue function of the import lane."""

from spinneret.monitoring.imports.worker_wiring import import_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(import_worker, "import-worker")

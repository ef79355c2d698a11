"""Queue function of the document lanes."""

from spinneret.content.library.worker_wiring import documents_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(documents_worker, "documents-worker")

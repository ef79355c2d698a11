"""Rule function, daily: compares rows, bodies and index, and removes long-deleted documents."""

from spinneret.content.library.worker_wiring import document_maintenance
from spinneret.runtime.scheduled import timed_entrypoint

handler = timed_entrypoint(document_maintenance.then(lambda it: it.reconcile), "reconcile")

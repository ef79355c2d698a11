"""Rebuilds the chunk index, one pass per call; `make rebuild-index` calls it until it is done."""

from __future__ import annotations

from spinneret.content.library.worker_wiring import document_maintenance
from spinneret.runtime.scheduled import timed_entrypoint

handler = timed_entrypoint(document_maintenance.then(lambda it: it.rebuild), "rebuild-index")

"""Begins a rebuild of the chunk index, or shows its progress; `make rebuild-index` calls it."""

from spinneret.content.library.worker_wiring import rebuild_requests
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(rebuild_requests, "rebuild-index")

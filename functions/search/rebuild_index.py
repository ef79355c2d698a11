"""Rebuilds the chunk index, one pass per call; `make rebuild-index` calls it until it is done."""

from __future__ import annotations

from spinneret.content.library.worker_wiring import rebuild_pass
from spinneret.runtime.scheduled import timed_entrypoint

handler = timed_entrypoint(rebuild_pass, "rebuild-index")

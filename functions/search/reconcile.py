"""Rule function, daily: compares rows, bodies and index, and removes long-deleted documents."""

from __future__ import annotations

from spinneret.content.library.worker_wiring import reconcile_pass
from spinneret.runtime.scheduled import timed_entrypoint

handler = timed_entrypoint(reconcile_pass, "reconcile")

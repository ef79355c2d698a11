"""Queue function of the marketplace lanes."""

from __future__ import annotations

from spinneret.marketplace.worker_wiring import publish_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(publish_worker, "publish-worker")

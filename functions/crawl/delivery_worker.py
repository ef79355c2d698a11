"""Queue function of the delivery lane."""

from __future__ import annotations

from spinneret.runtime.queue import worker_entrypoint
from spinneret.webhooks.worker_wiring import delivery_worker

handler = worker_entrypoint(delivery_worker, "delivery-worker")

"""Queue function of the delivery lane."""

from spinneret.events.webhooks.worker_wiring import delivery_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(delivery_worker, "delivery-worker")

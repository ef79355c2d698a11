"""Queue function of the discovery lane."""

from spinneret.discovery.worker_wiring import discovery_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(discovery_worker, "discovery-worker")

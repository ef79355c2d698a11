"""Queue function of the crawl lanes."""

from spinneret.crawl.worker_wiring import crawl_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(crawl_worker, "crawl-worker")

"""Queue function of the lane of rendered crawls."""

from spinneret.crawl.rendering_wiring import rendered_crawl_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(rendered_crawl_worker, "rendered-crawl-worker")

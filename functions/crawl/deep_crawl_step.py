"""Step function of deep crawls: takes and crawls blocks of pages."""

from spinneret.crawl.worker_wiring import deep_crawl_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(deep_crawl_step, "deep-crawl-step")

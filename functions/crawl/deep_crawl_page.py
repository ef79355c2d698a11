"""Step function of deep crawls: one page."""

from spinneret.crawl.worker_wiring import page_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(page_step, "deep-crawl-page")

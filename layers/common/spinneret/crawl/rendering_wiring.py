"""Wire the worker of rendered crawls; only its function packages the browser."""

from spinneret.aws.stage import Stage, reads
from spinneret.crawl.kinds import RENDERED_CRAWL
from spinneret.crawl.rendering import PageRenderer
from spinneret.crawl.wiring import WORKED, worked_kinds
from spinneret.crawl.worker_wiring import PAGES, crawl_pipeline
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import worker
from spinneret.jobs.worker import Worker
from spinneret.web.browser.worker_wiring import RENDERING
from spinneret.web.browser_wiring import polite_browser


@reads(*RELAY, *PAGES, *RENDERING, *WORKED)
def rendered_crawl_worker(stage: Stage) -> Worker:
    """Build a worker of the lane of rendered crawls."""
    pipeline = crawl_pipeline(stage, PageRenderer(browser=polite_browser(stage)))
    return worker(stage, {RENDERED_CRAWL: pipeline}, relaying_store(stage), worked_kinds(stage))

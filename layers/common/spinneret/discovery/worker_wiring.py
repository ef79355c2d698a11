"""Choice of the discovery worker's adapters."""

from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.discovery.exploring import DiscoveryHandler
from spinneret.discovery.kinds import DISCOVER
from spinneret.discovery.wiring import PLANS_TABLE, discovery_store
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.settings import text
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher

COMMON_CRAWL_URL: Final = text("COMMON_CRAWL_URL")
"""URL of the list of Common Crawl's indexes, newest first."""


@reads(*RELAY, *POLITE_FETCHING, PLANS_TABLE, COMMON_CRAWL_URL)
def discovery_worker(stage: Stage) -> Worker:
    """Return a worker for the lane of discoveries."""
    handler = DiscoveryHandler(
        fetcher=polite_fetcher(stage),
        store=discovery_store(stage),
        common_crawl_url=stage[COMMON_CRAWL_URL],
        clock=stage.clock,
    )
    return worker(stage, {DISCOVER: handler}, relaying_store(stage))

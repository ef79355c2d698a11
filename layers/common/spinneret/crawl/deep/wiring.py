"""Wire deep crawls except their step, which crawls pages."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.crawl.deep.driving import DeepCrawls
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.ports import JobStore
from spinneret.jobs.wiring import driver
from spinneret.kernel.settings import integer, text
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.service import Frontier

FRONTIER_TABLE: Final = text("FRONTIER_TABLE")
DEEP_CRAWL_MACHINE: Final = text("DEEP_CRAWL_MACHINE")
MAX_CONCURRENT: Final = integer("FEATURES__MAX_CONCURRENT_DEEP_CRAWLS", 5)
SEGMENT_BATCHES: Final = integer("DEEP_CRAWL_SEGMENT_BATCHES", 80)
DEEP_CRAWLS: Final = (FRONTIER_TABLE, MAX_CONCURRENT, SEGMENT_BATCHES)


def frontier(stage: Stage) -> Frontier:
    """Build the frontier of this stage."""
    store = DynamoFrontierStore(stage.dynamodb, stage[FRONTIER_TABLE])
    return Frontier(store=store, clock=stage.clock)


def deep_crawls(stage: Stage, store: JobStore) -> DeepCrawls:
    """Build the driving step of deep crawls."""
    return DeepCrawls(
        driver=driver(stage, store),
        frontier=frontier(stage),
        slots=DynamoSemaphore(stage.dynamodb, stage[FRONTIER_TABLE]),
        clock=stage.clock,
        at_once=stage[MAX_CONCURRENT],
        segment_batches=stage[SEGMENT_BATCHES],
    )

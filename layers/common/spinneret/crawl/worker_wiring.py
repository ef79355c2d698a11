"""Wire the crawl worker.

This module is separate from the API's wiring, whose functions ship neither the fetcher nor the
extractor.
"""

import time
from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.extraction.pages import extract
from spinneret.content.search.wiring import embedder, written_index
from spinneret.content.wiring import content_store, document_store
from spinneret.content.worker_wiring import INDEXING, indexer
from spinneret.crawl import limits
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.deep.blocks import PageBlocks
from spinneret.crawl.deep.pages import PageStep
from spinneret.crawl.deep.stepping import DeepCrawlStep
from spinneret.crawl.deep.wiring import (
    DEEP_CRAWL_MACHINE,
    DEEP_CRAWLS,
    deep_crawls,
    frontier,
)
from spinneret.crawl.inbox.handler import FileHandler
from spinneret.crawl.inbox.wiring import INBOX_BUCKET, inbox_store
from spinneret.crawl.kinds import CRAWL, CRAWL_BATCH, CRAWL_FILE, DEEP_CRAWL
from spinneret.crawl.known import KnownPages
from spinneret.crawl.pages import CrawlPages
from spinneret.crawl.pipeline import CrawlPipeline
from spinneret.crawl.rendering import PageRenderer
from spinneret.crawl.s3 import S3FetchCache
from spinneret.crawl.url_leases import UrlLeases
from spinneret.crawl.wiring import (
    CHECKS,
    WORKED,
    crawl_checks,
    document_exists,
    duplicate_tags,
    part_store,
    worked_kinds,
)
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions
from spinneret.jobs.wiring import children, driver, worker
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.settings import integer
from spinneret.web.fetching.wiring import USER_AGENT
from spinneret.web.headers.sealing import CRAWL_CONFIGS, HeaderSeal
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher

CACHE__CRAWL_TTL_S: Final = integer("CACHE__CRAWL_TTL_S", limits.FETCH_KEPT_SECONDS)
"""Seconds for which a fetched page is cached; 0 disables the cache."""
PAGES: Final = (*POLITE_FETCHING, *INDEXING, CACHE__CRAWL_TTL_S)


@reads(*RELAY, *PAGES, *CHECKS, *DEEP_CRAWLS, *WORKED, INBOX_BUCKET, DEEP_CRAWL_MACHINE)
def crawl_worker(stage: Stage) -> Worker:
    """Build a worker of one crawl lane."""
    store, kinds = relaying_store(stage), worked_kinds(stage)
    executions = StepFunctionsExecutions(stage.step_functions, stage[DEEP_CRAWL_MACHINE])
    makes = children(stage, store, kinds, result_exists=document_exists(stage))
    handlers: dict[str, Handler] = {
        CRAWL: crawl_pipeline(stage),
        CRAWL_BATCH: BatchHandler(makes),
        CRAWL_FILE: FileHandler(
            store=inbox_store(stage),
            checks=crawl_checks(stage),
            children=makes,
            tagging=duplicate_tags(stage),
            clock=stage.clock,
        ),
        DEEP_CRAWL: Starter(executions=executions, prepare=deep_crawls(stage, store).prepare),
    }
    return worker(stage, handlers, store, kinds)


@reads(*RELAY, *PAGES, *DEEP_CRAWLS)
def deep_crawl_step(stage: Stage) -> DeepCrawlStep:
    """Build the step of deep crawls."""
    store = relaying_store(stage)
    page = PageStep(
        frontier=frontier(stage),
        pipeline=crawl_pipeline(stage),
        clock=stage.clock,
        new_owner=stage.new_token,
        product_token=product_token_of(stage[USER_AGENT]),
    )
    return DeepCrawlStep(
        crawls=deep_crawls(stage, store),
        blocks=PageBlocks(driver=driver(stage, store), page=page, clock=stage.clock),
        clock=stage.clock,
        sleep=time.sleep,
    )


def crawl_pipeline(stage: Stage, renderer: PageRenderer | None = None) -> CrawlPipeline:
    """Build the handler of crawls of pages, with a renderer for rendered ones."""
    model, parts = embedder(stage), part_store(stage)
    pages = CrawlPages(
        fetcher=polite_fetcher(stage),
        cache=S3FetchCache(stage.s3, stage[CONTENT_BUCKET]),
        seal=HeaderSeal(stage.sealer, CRAWL_CONFIGS),
        known=KnownPages(contents=content_store(stage), parts=parts).find,
        clock=stage.clock,
        kept_seconds=stage[CACHE__CRAWL_TTL_S],
        renderer=renderer,
    )
    index = indexer(stage, model, written_index(stage, model))
    urls = UrlLeases(documents=document_store(stage), clock=stage.clock)
    return CrawlPipeline(urls=urls, pages=pages, extract=extract, parts=parts, indexer=index)

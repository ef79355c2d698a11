"""Wire crawling."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.wiring import (
    LABELS,
    collection_service,
    document_store,
    tag_service,
)
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.checks import CrawlChecks
from spinneret.crawl.configs.dynamo import DynamoConfigStore
from spinneret.crawl.configs.service import ConfigService
from spinneret.crawl.deep.service import DeepCrawlService
from spinneret.crawl.deep.wiring import FRONTIER_TABLE, frontier
from spinneret.crawl.kinds import CRAWL_BATCH, KINDS, PAGE_KINDS
from spinneret.crawl.reading import has_document
from spinneret.crawl.s3_parts import S3PartStore
from spinneret.crawl.service import CrawlService
from spinneret.crawl.tagging import DuplicateTags
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.wiring import RELAY, WEBHOOKS, relaying_store, webhook_service
from spinneret.jobs.control import JobControl
from spinneret.jobs.kinds import Kinds
from spinneret.jobs.leases import remaining_of
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job
from spinneret.jobs.wiring import children, job_control, job_service, job_waits, worker
from spinneret.kernel import bounds
from spinneret.kernel.settings import flag, integer, number, text
from spinneret.web.browser.wiring import BROWSER_FOLDER, has_browser
from spinneret.web.fetching.wiring import USER_AGENT, address_policy
from spinneret.web.headers.sealing import CRAWL_CONFIGS, HeaderSeal
from spinneret.web.hosts.service import HostService
from spinneret.web.hosts.wiring import host_service
from spinneret.web.proxies.service import ProxyService
from spinneret.web.proxies.trials import ProxyTrials
from spinneret.web.proxies.wiring import PROXIES, TRIALS, proxy_service, proxy_trials

BEGIN_SECONDS: Final = 15.0  # of a request's 29 s for creating its crawls

PLANS_TABLE: Final = text("PLANS_TABLE")
ENABLE_DEEP_CRAWL: Final = flag("FEATURES__ENABLE_DEEP_CRAWL", default=True)
MAX_PAGES: Final = integer("FEATURES__MAX_PAGES_PER_DEEP_CRAWL", bounds.CRAWL_PAGES_MAX)
JOB__MAX_RETRIES: Final = integer("JOB__MAX_RETRIES", bounds.JOB_MAX_ATTEMPTS)
"""Maximum attempts of a series, including the first."""
JOB__RESULT_TTL_S: Final = integer("JOB__RESULT_TTL_S", bounds.RESULT_FRESH_SECONDS)
JOB__TIMEOUT_S: Final = number("JOB__TIMEOUT_S", bounds.JOB_WORK_SECONDS)
"""Maximum working seconds of a run, over all of its claims."""
SUBMITTED: Final = (JOB__MAX_RETRIES, JOB__RESULT_TTL_S)
WORKED: Final = (*SUBMITTED, JOB__TIMEOUT_S)
CHECKS: Final = (*PROXIES, *LABELS, PLANS_TABLE, USER_AGENT, BROWSER_FOLDER)


@dataclass(frozen=True, kw_only=True)
class CrawlApi:
    """Services of the crawl routes."""

    crawl: CrawlService
    deep: DeepCrawlService
    configs: ConfigService
    jobs: JobControl
    waits: JobWaits
    hosts: HostService
    proxies: ProxyService
    proxy_trials: ProxyTrials
    webhooks: WebhookService


@reads(
    *(*RELAY, *WEBHOOKS, *CHECKS, *TRIALS, *SUBMITTED),
    *(FRONTIER_TABLE, CONTENT_BUCKET, ENABLE_DEEP_CRAWL, MAX_PAGES),
)
def crawl_api(stage: Stage) -> CrawlApi:
    """Build the services of the crawl API."""
    checks, webhooks = crawl_checks(stage), webhook_service(stage)
    store, kinds = relaying_store(stage), submitted_kinds(stage)
    result_exists = document_exists(stage)
    makes = BatchHandler(children(stage, store, kinds, result_exists=result_exists))
    batches = worker(stage, {CRAWL_BATCH: makes}, store)
    deep = DeepCrawlService(
        jobs=job_service(stage),
        frontier=frontier(stage),
        checks=checks,
        webhooks=webhooks,
        documents=document_store(stage),
        parts=part_store(stage),
        enabled=stage[ENABLE_DEEP_CRAWL],
        pages_max=stage[MAX_PAGES],
    )
    crawls = CrawlService(
        jobs=job_service(stage, kinds, result_exists=result_exists),
        checks=checks,
        webhooks=webhooks,
        documents=document_store(stage),
        parts=part_store(stage),
        tagging=duplicate_tags(stage),
        begin_batch=lambda ref: batches.run(ref, remaining_of(BEGIN_SECONDS, time.monotonic)),
        submit_deep=deep.submit_plain,
    )
    return CrawlApi(
        crawl=crawls,
        deep=deep,
        configs=checks.configs,
        jobs=job_control(stage, store),
        waits=job_waits(stage),
        hosts=checks.hosts,
        proxies=checks.proxies,
        proxy_trials=proxy_trials(stage),
        webhooks=webhooks,
    )


def crawl_checks(stage: Stage) -> CrawlChecks:
    """Build the checks of submitted crawls."""
    proxies = proxy_service(stage)
    configs = ConfigService(
        store=DynamoConfigStore(stage.dynamodb, stage[PLANS_TABLE]),
        seal=HeaderSeal(stage.sealer, CRAWL_CONFIGS),
        proxies=proxies,
        user_agent=stage[USER_AGENT],
        clock=stage.clock,
        new_id=stage.new_id,
        has_browser=has_browser(stage),
    )
    return CrawlChecks(
        policy=address_policy(stage),
        hosts=host_service(stage),
        proxies=proxies,
        configs=configs,
        collections=collection_service(stage),
        tags=tag_service(stage),
    )


def duplicate_tags(stage: Stage) -> DuplicateTags:
    """Build the service that adds tags to the work of existing jobs."""
    return DuplicateTags(jobs=job_service(stage), documents=document_store(stage))


def document_exists(stage: Stage) -> Callable[[Job], bool]:
    """Return whether a crawl's document is still there, so that its result answers another one."""
    return partial(has_document, documents=document_store(stage))


def part_store(stage: Stage) -> S3PartStore:
    """Build the store of documents' parts."""
    return S3PartStore(stage.s3, stage[CONTENT_BUCKET])


def submitted_kinds(stage: Stage) -> Kinds:
    """Return the kinds of crawls of pages with this stage's settings for submission."""
    return {
        kind: replace(
            KINDS[kind],
            max_attempts=stage[JOB__MAX_RETRIES],
            result_seconds=stage[JOB__RESULT_TTL_S],
        )
        for kind in PAGE_KINDS
    }


def worked_kinds(stage: Stage) -> Kinds:
    """Return the kinds of crawls for their worker, which also submits the crawls of a batch."""
    return {
        kind: replace(policy, work_seconds=stage[JOB__TIMEOUT_S])
        for kind, policy in submitted_kinds(stage).items()
    }

"""Wire crawling."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.collections.wiring import collection_service
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.tags.wiring import tag_service
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.checks import CrawlChecks
from spinneret.crawl.configs.service import ConfigService
from spinneret.crawl.configs.wiring import ConfigSettings, config_service
from spinneret.crawl.deep.service import DeepCrawlService
from spinneret.crawl.deep.wiring import FrontierSettings, frontier
from spinneret.crawl.kinds import CRAWL_BATCH
from spinneret.crawl.s3_parts import S3PartStore
from spinneret.crawl.service import CrawlService
from spinneret.crawl.settings import SubmissionSettings
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.webhooks.wiring import WebhookSettings, webhook_service
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.control import JobControl
from spinneret.jobs.leases import remaining_of
from spinneret.jobs.wiring import children, ending_store, job_control, job_service, worker
from spinneret.kernel import bounds
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.service import HostService
from spinneret.web.hosts.wiring import host_service
from spinneret.web.proxies.service import ProxyService
from spinneret.web.proxies.trials import ProxyTrials
from spinneret.web.proxies.wiring import proxy_service, proxy_trials

BEGIN_SECONDS: Final = 15.0  # of a request's 29 s for creating its crawls


@dataclass(frozen=True, kw_only=True)
class CrawlApiSettings(
    WebhookSettings, ConfigSettings, FrontierSettings, RelaySettings, SubmissionSettings
):
    """Environment variables of the crawl API."""

    content_bucket: str
    documents_table: str
    features__enable_deep_crawl: bool = True
    features__max_pages_per_deep_crawl: int = bounds.CRAWL_PAGES_MAX


@dataclass(frozen=True, kw_only=True)
class CrawlApi:
    """Services of the crawl routes."""

    crawl: CrawlService
    deep: DeepCrawlService
    configs: ConfigService
    jobs: JobControl
    hosts: HostService
    proxies: ProxyService
    proxy_trials: ProxyTrials
    webhooks: WebhookService


def crawl_api(env: Mapping[str, str]) -> CrawlApi:
    """Build the services of the crawl API."""
    settings = CrawlApiSettings.from_env(env)
    hosts = host_service(settings)
    proxies = proxy_service(settings)
    webhooks = webhook_service(settings)
    store = ending_store(settings, relay(settings).relay)
    configs = config_service(settings, proxies)
    documents = DynamoDocumentStore(
        dynamodb_client(), settings.documents_table, settings.jobs_table
    )
    makes = BatchHandler(children(settings, store, settings.kinds))
    parts = S3PartStore(s3_client(), settings.content_bucket)
    batches = worker(settings, {CRAWL_BATCH: makes}, store)

    checks = CrawlChecks(
        policy=address_policy(settings),
        hosts=hosts,
        proxies=proxies,
        configs=configs,
        collections=collection_service(env),
        tags=tag_service(env),
    )
    deep = DeepCrawlService(
        jobs=job_service(settings),
        frontier=frontier(settings),
        checks=checks,
        webhooks=webhooks,
        documents=documents,
        parts=parts,
        enabled=settings.features__enable_deep_crawl,
        pages_max=settings.features__max_pages_per_deep_crawl,
    )
    crawls = CrawlService(
        jobs=job_service(settings, settings.kinds),
        checks=checks,
        webhooks=webhooks,
        documents=documents,
        parts=parts,
        begin_batch=lambda ref: batches.run(ref, remaining_of(BEGIN_SECONDS, time.monotonic)),
        submit_deep=deep.submit_plain,
    )
    return CrawlApi(
        crawl=crawls,
        deep=deep,
        configs=configs,
        jobs=job_control(settings, store),
        hosts=hosts,
        proxies=proxies,
        proxy_trials=proxy_trials(settings),
        webhooks=webhooks,
    )


def crawl_checks(settings: ConfigSettings, env: Mapping[str, str]) -> CrawlChecks:
    """Build the submission checks that a worker applies."""
    proxies = proxy_service(settings)
    return CrawlChecks(
        policy=address_policy(settings),
        hosts=host_service(settings),
        proxies=proxies,
        configs=config_service(settings, proxies),
        collections=collection_service(env),
        tags=tag_service(env),
    )

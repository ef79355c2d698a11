"""Chooses the readiness probes: one question to each part, answered within two seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import boto3
import httpx
from botocore.config import Config
from opensearchpy.exceptions import OpenSearchException

from spinneret.access.keys.service import KeyService
from spinneret.access.keys.wiring import TenancySettings, key_service
from spinneret.access.uploads.service import UploadService
from spinneret.access.uploads.wiring import UploadSettings, upload_service
from spinneret.aws.clients import CONFIG, translated
from spinneret.aws.opensearch import opensearch_client
from spinneret.content.search.settings import SearchSettings
from spinneret.jobs.control import JobControl
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_control, live_service
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.service import HealthService, Probe

_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class CoreApiSettings(JobSettings, SearchSettings, TenancySettings, UploadSettings):
    """The core API's environment."""

    content_bucket: str


@dataclass(frozen=True, kw_only=True)
class CoreApi:
    """What the routes of the core area use."""

    keys: KeyService
    uploads: UploadService
    health: HealthService
    jobs: JobControl
    live: LiveService
    """Ends the WebSockets of a revoked key."""


def core_api(env: Mapping[str, str]) -> CoreApi:
    """Services of the core API."""
    settings = CoreApiSettings.from_env(env)
    return CoreApi(
        keys=key_service(settings),
        uploads=upload_service(settings),
        health=HealthService(_probes(settings)),
        jobs=job_control(settings),
        live=live_service(settings),
    )


def _probes(settings: CoreApiSettings) -> Mapping[str, Probe]:
    once = CONFIG.merge(
        Config(connect_timeout=1, read_timeout=_SECONDS, retries={"total_max_attempts": 1})
    )
    dynamodb = boto3.client("dynamodb", config=once)
    sqs = boto3.client("sqs", config=once)
    s3 = boto3.client("s3", config=once)
    index = opensearch_client(settings.opensearch_url, settings.opensearch_auth, _SECONDS)
    http = httpx.Client(trust_env=False, timeout=_SECONDS)

    def ask_dynamodb() -> None:
        with translated("dynamodb"):
            key = {"pk": {"S": "HEALTH"}, "sk": {"S": "HEALTH"}}
            dynamodb.get_item(TableName=settings.jobs_table, Key=key)

    def ask_sqs() -> None:
        with translated("sqs"):
            sqs.get_queue_attributes(
                QueueUrl=settings.crawl_normal_queue_url, AttributeNames=["QueueArn"]
            )

    def ask_s3() -> None:
        with translated("s3"):
            s3.head_bucket(Bucket=settings.content_bucket)

    def ask_opensearch() -> None:
        try:
            answer = index.cluster.health()
        except OpenSearchException as error:
            raise DependencyUnavailable("opensearch") from error
        if answer["status"] == "red":
            raise DependencyUnavailable("opensearch", "a shard is missing")

    def ask_embedder() -> None:
        try:
            http.get(settings.embedder_url.rstrip("/") + "/health").raise_for_status()
        except httpx.HTTPError as error:
            raise DependencyUnavailable("embedder") from error

    return {
        "dynamodb": ask_dynamodb,
        "sqs": ask_sqs,
        "s3": ask_s3,
        "opensearch": ask_opensearch,
        "embedder": ask_embedder,
    }

"""Select the readiness probes: one request per dependency, with a timeout of two seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import boto3
from botocore.config import Config

from spinneret.access.keys.service import KeyService
from spinneret.access.keys.wiring import IssuingSettings, issuing_key_service
from spinneret.access.uploads.service import UploadService
from spinneret.access.uploads.wiring import UploadSettings, upload_service
from spinneret.aws.clients import CONFIG, lambda_client, translate_aws_errors
from spinneret.aws.http import INDEX_SERVICE, SIGNED, get
from spinneret.aws.secrets_manager import credentials_of
from spinneret.content.search.settings import SearchSettings
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.control import JobControl
from spinneret.jobs.kinds import all_lanes
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.sqs import lane_url
from spinneret.jobs.wiring import ending_store, job_control, live_service
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.marketplace.publishing.wiring import counting
from spinneret.operations.service import HealthService, Probe

_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class CoreApiSettings(RelaySettings, SearchSettings, IssuingSettings, UploadSettings):
    """Environment variables of the core API."""

    content_bucket: str
    marketplace_table: str
    """Table whose statistics also count cancelled marketplace jobs."""


@dataclass(frozen=True, kw_only=True)
class CoreApi:
    """Services that the routes of the core area use."""

    keys: KeyService
    uploads: UploadService
    health: HealthService
    jobs: JobControl
    live: LiveService
    """Closes the WebSockets of a revoked key."""


def core_api(env: Mapping[str, str]) -> CoreApi:
    """Build the services of the core API."""
    settings = CoreApiSettings.from_env(env)
    counts = counting(settings.marketplace_table)
    store = ending_store(settings, relay(settings).relay, counts)
    return CoreApi(
        keys=issuing_key_service(settings),
        uploads=upload_service(settings),
        health=HealthService(probes=_probes(settings)),
        jobs=job_control(settings, store),
        live=live_service(settings),
    )


def _probes(settings: CoreApiSettings) -> Mapping[str, Probe]:
    once = CONFIG.merge(
        Config(connect_timeout=1, read_timeout=_SECONDS, retries={"total_max_attempts": 1})
    )
    dynamodb = boto3.client("dynamodb", config=once)
    sqs = boto3.client("sqs", config=once)
    s3 = boto3.client("s3", config=once)
    lane = lane_url(settings.lanes_url, all_lanes()[0])
    credentials = credentials_of(settings.embedder_secret)
    signed_for = INDEX_SERVICE if settings.opensearch_auth == SIGNED else None

    def ask_dynamodb() -> None:
        with translate_aws_errors("dynamodb"):
            key = {"pk": {"S": "HEALTH"}, "sk": {"S": "HEALTH"}}
            dynamodb.get_item(TableName=settings.jobs_table, Key=key)

    def ask_sqs() -> None:
        with translate_aws_errors("sqs"):
            sqs.get_queue_attributes(QueueUrl=lane, AttributeNames=["QueueArn"])

    def ask_s3() -> None:
        with translate_aws_errors("s3"):
            s3.head_bucket(Bucket=settings.content_bucket)

    def ask_opensearch() -> None:
        url = settings.opensearch_url.rstrip("/") + "/_cluster/health"
        answer = json.loads(get(url, _SECONDS, "opensearch", signed_for=signed_for))
        if answer["status"] == "red":
            raise DependencyUnavailable("opensearch", "a shard is missing")

    def ask_embedder() -> None:
        if settings.embedder_url:
            shown = credentials.value() if credentials is not None else None
            url = settings.embedder_url.rstrip("/") + "/health"
            get(url, _SECONDS, "embedder", authorization=shown)
            return
        with translate_aws_errors(
            "embedder"
        ):  # checks only that the function exists: cold starts are slow
            client = lambda_client(_SECONDS)
            client.invoke(FunctionName=settings.embedder_function, InvocationType="DryRun")

    return {
        "dynamodb": ask_dynamodb,
        "sqs": ask_sqs,
        "s3": ask_s3,
        "opensearch": ask_opensearch,
        "embedder": ask_embedder,
    }

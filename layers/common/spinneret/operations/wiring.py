"""Select the readiness probes: one request per dependency, with a timeout of two seconds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import boto3
from botocore.config import Config

from spinneret.access.keys.service import KeyService
from spinneret.access.uploads.service import UploadService
from spinneret.access.wiring import (
    ADMITTING,
    RATE_LIMIT__API_RPM,
    UPLOADS_BUCKET,
    issuing_key_service,
    upload_service,
)
from spinneret.aws.clients import CONFIG, lambda_client, translate_aws_errors
from spinneret.aws.http import INDEX_SERVICE, SIGNED, get
from spinneret.aws.secrets_manager import credentials_of
from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.documents.keys import INDEX_KEY
from spinneret.content.search.opensearch_mapping import all_models
from spinneret.content.search.variables import (
    EMBEDDER_FUNCTION,
    EMBEDDER_SECRET,
    EMBEDDER_URL,
    INDEX_AND_EMBEDDER,
    OPENSEARCH_AUTH,
    OPENSEARCH_URL,
)
from spinneret.content.wiring import DOCUMENTS_TABLE
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.control import JobControl
from spinneret.jobs.kinds import all_lanes
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.sqs import lane_url
from spinneret.jobs.wiring import JOBS_TABLE, LANES_URL, job_control, live_service
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.settings import text
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE, counting
from spinneret.operations.service import HealthService, Probe
from spinneret.web.browser.wiring import BROWSER_FOLDER, has_browser

MEDIA_FUNCTION: Final = text("MEDIA_FUNCTION")
"""Function that has the browser."""
BROWSER: Final = "browser"
_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class CoreApi:
    """Services that the routes of the core area use."""

    keys: KeyService
    uploads: UploadService
    health: HealthService
    jobs: JobControl
    live: LiveService
    """Closes the WebSockets of a revoked key."""


@reads(
    *(*RELAY, *INDEX_AND_EMBEDDER, *ADMITTING, RATE_LIMIT__API_RPM),
    *(UPLOADS_BUCKET, CONTENT_BUCKET, DOCUMENTS_TABLE, MARKETPLACE_TABLE),
    *(BROWSER_FOLDER, MEDIA_FUNCTION),
)
def core_api(stage: Stage) -> CoreApi:
    """Build the services of the core API, which counts cancelled marketplace jobs too."""
    return CoreApi(
        keys=issuing_key_service(stage),
        uploads=upload_service(stage),
        health=_health(stage),
        jobs=job_control(stage, relaying_store(stage, counting(stage))),
        live=live_service(stage),
    )


def _health(stage: Stage) -> HealthService:
    probes = _probes(stage)
    ask_browser = partial(_ask_function, BROWSER, stage[MEDIA_FUNCTION])
    if not has_browser(stage):
        return HealthService(probes=probes, absent=(BROWSER,))
    return HealthService(probes={**probes, BROWSER: ask_browser})


def _ask_function(dependency: str, name: str) -> None:
    """Check only that the function exists: cold starts are slow."""
    with translate_aws_errors(dependency):
        lambda_client(_SECONDS).invoke(FunctionName=name, InvocationType="DryRun")


def _probes(stage: Stage) -> Mapping[str, Probe]:
    once = CONFIG.merge(
        Config(connect_timeout=1, read_timeout=_SECONDS, retries={"total_max_attempts": 1})
    )
    dynamodb = boto3.client("dynamodb", config=once)
    sqs = boto3.client("sqs", config=once)
    s3 = boto3.client("s3", config=once)
    table, bucket = stage[JOBS_TABLE], stage[CONTENT_BUCKET]
    documents = stage[DOCUMENTS_TABLE]
    lane = lane_url(stage[LANES_URL], all_lanes()[0])
    index, embedder = stage[OPENSEARCH_URL].rstrip("/"), stage[EMBEDDER_URL].rstrip("/")
    embedder_function = stage[EMBEDDER_FUNCTION]
    credentials = credentials_of(stage[EMBEDDER_SECRET])
    signed_for = INDEX_SERVICE if stage[OPENSEARCH_AUTH] == SIGNED else None

    def ask_dynamodb() -> None:
        with translate_aws_errors("dynamodb"):
            key = {"pk": {"S": "HEALTH"}, "sk": {"S": "HEALTH"}}
            dynamodb.get_item(TableName=table, Key=key)

    def ask_sqs() -> None:
        with translate_aws_errors("sqs"):
            sqs.get_queue_attributes(QueueUrl=lane, AttributeNames=["QueueArn"])

    def ask_s3() -> None:
        with translate_aws_errors("s3"):
            s3.head_bucket(Bucket=bucket)

    def ask_opensearch() -> None:
        url = f"{index}/_cluster/health"
        answer = json.loads(get(url, _SECONDS, "opensearch", signed_for=signed_for))
        if answer["status"] == "red":
            raise DependencyUnavailable("opensearch", "a shard is missing")
        url = f"{index}/_alias/{all_models().read}"
        if json.loads(get(url, _SECONDS, "opensearch", signed_for=signed_for)):
            return
        with translate_aws_errors("dynamodb"):
            key = {name: {"S": value} for name, value in INDEX_KEY.items()}
            found = dynamodb.get_item(TableName=documents, Key=key)
        if "Item" in found:
            raise DependencyUnavailable("opensearch", "the index is missing")

    def ask_embedder() -> None:
        if embedder:
            shown = credentials.value() if credentials is not None else None
            get(f"{embedder}/health", _SECONDS, "embedder", authorization=shown)
            return
        _ask_function("embedder", embedder_function)

    return {
        "dynamodb": ask_dynamodb,
        "sqs": ask_sqs,
        "s3": ask_s3,
        "opensearch": ask_opensearch,
        "embedder": ask_embedder,
    }

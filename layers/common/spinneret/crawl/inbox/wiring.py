"""Wire the inbox except its worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinneret.aws.clients import s3_client
from spinneret.crawl.inbox.s3 import S3InboxStore
from spinneret.crawl.inbox.service import InboxIngest, InboxService
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_service
from spinneret.kernel.clock import Remaining, utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class InboxBucketSettings(Settings):
    """Settings of the inbox's bucket."""

    inbox_bucket: str


@dataclass(frozen=True, kw_only=True)
class InboxSettings(JobSettings, InboxBucketSettings):
    """Environment variables of the inbox's routes."""


def inbox_store(settings: InboxBucketSettings) -> S3InboxStore:
    """Build the inbox store of this stage."""
    return S3InboxStore(s3_client(), settings.inbox_bucket)


def inbox_service(env: Mapping[str, str]) -> InboxService:
    """Build the service of the inbox's routes."""
    settings = InboxSettings.from_env(env)
    return InboxService(
        store=inbox_store(settings),
        jobs=job_service(settings),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def arrivals(env: Mapping[str, str]) -> S3EventHandler:
    """Build the handler of the bucket's event rule."""
    return S3EventHandler(InboxIngest(job_service(JobSettings.from_env(env))))


class S3EventHandler:
    """Handles the event of a created object.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
    """

    def __init__(self, arrivals: InboxIngest) -> None:
        self._arrivals = arrivals

    def __call__(self, event: Mapping[str, Any], _: Remaining) -> dict[str, str | None]:
        """Submit the object's job; return its id."""
        created = event["detail"]["object"]
        return {"job_id": self._arrivals(created["key"], created["version-id"])}

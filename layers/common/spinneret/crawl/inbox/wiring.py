"""Chooses the adapters of the inbox, but for the worker's."""

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
    """Where files are put."""

    inbox_bucket: str


@dataclass(frozen=True, kw_only=True)
class InboxSettings(JobSettings, InboxBucketSettings):
    """The environment of the inbox's routes."""


def inbox_store(settings: InboxBucketSettings) -> S3InboxStore:
    """The inbox of this stage."""
    return S3InboxStore(s3_client(), settings.inbox_bucket)


def inbox_service(env: Mapping[str, str]) -> InboxService:
    """What the routes use."""
    settings = InboxSettings.from_env(env)
    return InboxService(
        store=inbox_store(settings),
        jobs=job_service(settings),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def arrivals(env: Mapping[str, str]) -> S3EventHandler:
    """What the rule of the bucket calls."""
    return S3EventHandler(InboxIngest(job_service(JobSettings.from_env(env))))


class S3EventHandler:
    """Reads the event of an object that was created.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
    """

    def __init__(self, arrivals: InboxIngest) -> None:
        self._arrivals = arrivals

    def __call__(self, event: Mapping[str, Any], _: Remaining) -> dict[str, str | None]:
        """The object's job."""
        created = event["detail"]["object"]
        return {"job_id": self._arrivals(created["key"], created["version-id"])}

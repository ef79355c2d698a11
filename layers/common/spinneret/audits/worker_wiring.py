"""Select the adapters of the audit worker.

The API's wiring is a separate module, as it must not load the fetcher.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from spinneret.audits import limits
from spinneret.audits.kinds import AUDIT
from spinneret.audits.running.pipeline import AuditPipeline
from spinneret.audits.running.storage import Storage
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.audits.sessions import has_left
from spinneret.audits.wiring import AuditSettings, audit_store
from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.wiring import ending_store, job_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.sessions import Sessions
from spinneret.web.wiring import PoliteFetchSettings, polite_fetcher


@dataclass(frozen=True, kw_only=True)
class AuditWorkerSettings(AuditSettings, RelaySettings, PoliteFetchSettings):
    """Environment variables of the audit worker."""

    frontier_table: str
    html_retention_days: int = limits.HTML_RETENTION_DAYS


def audit_worker(env: Mapping[str, str]) -> Worker:
    """Build a worker of the lane `audit`."""
    settings = AuditWorkerSettings.from_env(env)
    pipeline = AuditPipeline(
        storage=Storage(
            store=audit_store(settings),
            bodies=S3AuditObjectStore(s3_client(), settings.audits_bucket),
            html_retention_days=settings.html_retention_days,
        ),
        frontier=Frontier(
            store=DynamoFrontierStore(dynamodb_client(), settings.frontier_table), clock=utc_now
        ),
        fetcher=polite_fetcher(settings),
        sessions=_sessions(settings),
        clock=utc_now,
    )
    store = ending_store(settings, relay(settings).relay)
    return worker(settings, {AUDIT: pipeline}, store)


def _sessions(settings: AuditWorkerSettings) -> Sessions:
    """Build the sessions with this stage's hosts: lock and minimum pause."""
    return Sessions(
        ledger=DynamoHostStateStore(dynamodb_client(), settings.domains_table),
        settings=settings,
        clock=utc_now,
        random=random.random,
        new_token=lambda: uuid4().hex,
        is_over=has_left(job_store(settings).get),
    )

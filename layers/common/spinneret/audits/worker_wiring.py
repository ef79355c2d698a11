"""Select the adapters of the audit worker.

The API's wiring is a separate module, as it must not load the fetcher.
"""

import random
from collections.abc import Callable
from functools import cache
from typing import Final

from spinneret.audits import limits
from spinneret.audits.kinds import AUDIT
from spinneret.audits.running.pipeline import AuditPipeline
from spinneret.audits.running.storage import Storage
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.audits.sessions import has_left
from spinneret.audits.wiring import AUDITS, AUDITS_BUCKET, audit_store
from spinneret.aws.stage import Stage, reads
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import job_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.settings import flag, integer, text
from spinneret.web.browser.wiring import BROWSER_FOLDER, has_browser
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.headers.sealing import AUDITS as HEADERS
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.hosts.wiring import DOMAINS_TABLE
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import SessionOptions
from spinneret.web.politeness.sessions import Sessions
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher

FRONTIER_TABLE: Final = text("FRONTIER_TABLE")
HTML_RETENTION_DAYS: Final = integer("HTML_RETENTION_DAYS", limits.HTML_RETENTION_DAYS)
SITE_WAIT_SECONDS: Final = integer("AUDIT_SITE_WAIT_SECONDS", limits.SITE_WAIT_SECONDS)
_USUAL: Final = SessionOptions()
LOCK_TTL_SECONDS: Final = integer("DOMAIN_LOCK_TTL_SECONDS", _USUAL.lock_ttl_seconds)
THROTTLE_TTL_SECONDS: Final = integer("DOMAIN_THROTTLE_TTL_SECONDS", _USUAL.throttle_ttl_seconds)
MIN_DELAY_MS: Final = integer("DOMAIN_MIN_DELAY_MS", _USUAL.min_delay_ms)
DISABLE_THROTTLE: Final = flag("DISABLE_THROTTLE", default=False)
DISABLE_LOCKS: Final = flag("DISABLE_LOCKS", default=False)
SESSIONS: Final = (
    *(LOCK_TTL_SECONDS, THROTTLE_TTL_SECONDS, MIN_DELAY_MS),
    *(DISABLE_THROTTLE, DISABLE_LOCKS),
)


@reads(
    *(*RELAY, *POLITE_FETCHING, *AUDITS, *SESSIONS),
    *(FRONTIER_TABLE, HTML_RETENTION_DAYS, SITE_WAIT_SECONDS, BROWSER_FOLDER),
)
def audit_worker(stage: Stage) -> Worker:
    """Build a worker of the lane `audit`."""
    frontier = DynamoFrontierStore(stage.dynamodb, stage[FRONTIER_TABLE])
    pipeline = AuditPipeline(
        storage=Storage(
            store=audit_store(stage),
            bodies=S3AuditObjectStore(stage.s3, stage[AUDITS_BUCKET]),
            html_retention_days=stage[HTML_RETENTION_DAYS],
        ),
        frontier=Frontier(store=frontier, clock=stage.clock),
        fetcher=polite_fetcher(stage),
        sessions=Sessions(
            ledger=DynamoHostStateStore(stage.dynamodb, stage[DOMAINS_TABLE]),
            options=session_options(stage),
            clock=stage.clock,
            random=random.random,
            new_token=stage.new_token,
            is_over=has_left(job_store(stage).get),
        ),
        seal=HeaderSeal(stage.sealer, HEADERS),
        browser=_browser_of(stage) if has_browser(stage) else None,
        clock=stage.clock,
        site_wait_seconds=stage[SITE_WAIT_SECONDS],
    )
    return worker(stage, {AUDIT: pipeline}, relaying_store(stage))


def _browser_of(stage: Stage) -> Callable[[], PoliteBrowser]:
    """Return the browser of this stage, which is loaded for the first rendered page."""

    @cache
    def browser() -> PoliteBrowser:
        from spinneret.web.browser_wiring import polite_browser  # noqa: PLC0415 (import budget)

        return polite_browser(stage)

    return browser


def session_options(stage: Stage) -> SessionOptions:
    """Return the stage's lock and throttle of hosts."""
    return SessionOptions(
        lock_ttl_seconds=stage[LOCK_TTL_SECONDS],
        throttle_ttl_seconds=stage[THROTTLE_TTL_SECONDS],
        min_delay_ms=stage[MIN_DELAY_MS],
        disable_throttle=stage[DISABLE_THROTTLE],
        disable_locks=stage[DISABLE_LOCKS],
    )

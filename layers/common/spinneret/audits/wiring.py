"""Select the adapters of audits' API and of the pass over schedules."""

from collections.abc import Callable
from functools import cached_property
from typing import Final

from spinneret.audits.dynamo import DynamoAuditStore
from spinneret.audits.preview import Previews
from spinneret.audits.request_headers import HeaderIntake
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.audits.schedules.dynamo import DynamoScheduleStore
from spinneret.audits.schedules.models import ScheduleTickResult
from spinneret.audits.schedules.service import ScheduleService, ScheduleTicker
from spinneret.audits.service import AuditService
from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.control import JobControl
from spinneret.jobs.wiring import JOBS_TABLE, SUBMISSION, job_control, job_service, job_store
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import text
from spinneret.web.browser.wiring import BROWSER_FOLDER, has_browser
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.wiring import USER_AGENT, address_policy
from spinneret.web.headers.sealing import AUDITS as HEADERS
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.hosts.wiring import HOSTS, host_service
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.proxies.wiring import PROXIES

AUDITS_TABLE: Final = text("AUDITS_TABLE")
AUDITS_BUCKET: Final = text("AUDITS_BUCKET")
AUDITS: Final = (AUDITS_TABLE, AUDITS_BUCKET)


class AuditApi:
    """Services that the routes of audits use."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.jobs = job_control(stage, relaying_store(stage))
        intake = HeaderIntake(seal=HeaderSeal(stage.sealer, HEADERS), user_agent=stage[USER_AGENT])
        self.audits = audit_service(stage, self.jobs, intake)
        self.schedules = ScheduleService(
            store=DynamoScheduleStore(stage.dynamodb, stage[AUDITS_TABLE]),
            policy=address_policy(stage),
            intake=intake,
            has_browser=has_browser(stage),
            clock=stage.clock,
            new_id=stage.new_id,
        )

    @cached_property
    def previews(self) -> Previews:
        """Build the previews on first use, as loading the fetcher takes longer than the rest."""
        from spinneret.web.wiring import polite_fetcher  # noqa: PLC0415 (see above)

        return Previews(
            fetcher=polite_fetcher(self._stage),
            policy=address_policy(self._stage),
            links_of=links_of,
            product_token=product_token_of(self._stage[USER_AGENT]),
            clock=self._stage.clock,
            new_id=self._stage.new_id,
        )


@reads(*RELAY, *PROXIES, *AUDITS, USER_AGENT, CONTENT_BUCKET, BROWSER_FOLDER)
def audit_api(stage: Stage) -> AuditApi:
    """Build the services of the audits API."""
    return AuditApi(stage)


def audit_service(
    stage: Stage, control: JobControl, intake: HeaderIntake | None = None
) -> AuditService:
    """Build the audit service of this stage; without `intake`, requests have no headers."""
    return AuditService(
        jobs=job_service(stage),
        control=control,
        store=audit_store(stage),
        bodies=S3AuditObjectStore(stage.s3, stage[AUDITS_BUCKET]),
        policy=address_policy(stage),
        hosts=host_service(stage),
        has_browser=has_browser(stage),
        intake=intake,
    )


def audit_store(stage: Stage) -> DynamoAuditStore:
    """Build the audit store of this stage."""
    tables = stage[AUDITS_TABLE], stage[JOBS_TABLE]
    return DynamoAuditStore(stage.dynamodb, *tables, clock=stage.clock)


@reads(*SUBMISSION, *HOSTS, *AUDITS, BROWSER_FOLDER)
def schedule_pass(stage: Stage) -> Callable[[], ScheduleTickResult]:
    """Return the pass over the schedules that their rule starts."""
    return ScheduleTicker(
        store=DynamoScheduleStore(stage.dynamodb, stage[AUDITS_TABLE]),
        audits=audit_service(stage, job_control(stage, job_store(stage))),
        clock=stage.clock,
    ).tick


def links_of(page: FetchedPage) -> list[str]:
    """Return the links of a page, using the facts extractor, which is imported late."""
    from spinneret.audits.facts.pages import read_page  # noqa: PLC0415 (import budget)

    facts = read_page(page, utc_now())[-1]
    return [link.url for link in facts.html.links if link.url] if facts.html else []

"""Select the adapters of audits' API and of the pass over schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property

from spinneret.audits.dynamo import DynamoAuditStore
from spinneret.audits.preview import Previews
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.audits.schedules.dynamo import DynamoScheduleStore
from spinneret.audits.schedules.models import ScheduleTickResult
from spinneret.audits.schedules.service import ScheduleService, ScheduleTicker
from spinneret.audits.service import AuditService
from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.control import JobControl
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import ending_store, job_control, job_service, job_store
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HostServiceSettings, host_service
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.proxies.wiring import ProxySettings


@dataclass(frozen=True, kw_only=True)
class AuditSettings(JobSettings):
    """Table and bucket of audits."""

    audits_table: str
    audits_bucket: str


@dataclass(frozen=True, kw_only=True)
class SubmissionSettings(AuditSettings, HostServiceSettings):
    """Settings for submitting audits."""


@dataclass(frozen=True, kw_only=True)
class AuditApiSettings(SubmissionSettings, ProxySettings, RelaySettings):
    """Environment variables of the API.

    Previews fetch pages, and store robots.txt in the same bucket as all fetchers.
    """

    content_bucket: str


class AuditApi:
    """Services that the routes of audits use."""

    def __init__(self, settings: AuditApiSettings) -> None:
        self._settings = settings
        store = ending_store(settings, relay(settings).relay)
        self.jobs: JobControl = job_control(settings, store)
        self.audits = audit_service(settings, self.jobs)
        self.schedules = ScheduleService(
            store=DynamoScheduleStore(dynamodb_client(), settings.audits_table),
            policy=address_policy(settings),
            clock=utc_now,
            new_id=id_maker(utc_now),
        )

    @cached_property
    def previews(self) -> Previews:
        """Build the previews on first use, as loading the fetcher takes longer than the rest."""
        from spinneret.web.wiring import (  # noqa: PLC0415 (see above)
            PoliteFetchSettings,
            polite_fetcher,
        )

        settings = self._settings
        given = {each.name: getattr(settings, each.name) for each in fields(PoliteFetchSettings)}
        return Previews(
            fetcher=polite_fetcher(PoliteFetchSettings(**given)),
            policy=address_policy(settings),
            links_of=links_of,
            product_token=product_token_of(settings.user_agent),
            clock=utc_now,
            new_id=id_maker(utc_now),
        )


def audit_api(env: Mapping[str, str]) -> AuditApi:
    """Build the services of the audits API."""
    return AuditApi(AuditApiSettings.from_env(env))


def audit_service(settings: SubmissionSettings, control: JobControl) -> AuditService:
    """Build the audit service of this stage."""
    return AuditService(
        jobs=job_service(settings),
        control=control,
        store=audit_store(settings),
        bodies=S3AuditObjectStore(s3_client(), settings.audits_bucket),
        policy=address_policy(settings),
        hosts=host_service(settings),
    )


def audit_store(settings: AuditSettings) -> DynamoAuditStore:
    """Build the audit store of this stage."""
    return DynamoAuditStore(
        dynamodb_client(), settings.audits_table, settings.jobs_table, clock=utc_now
    )


def schedule_pass(env: Mapping[str, str]) -> Callable[[], ScheduleTickResult]:
    """Return the pass over the schedules that their rule starts."""
    settings = SubmissionSettings.from_env(env)
    ticker = ScheduleTicker(
        store=DynamoScheduleStore(dynamodb_client(), settings.audits_table),
        audits=audit_service(settings, job_control(settings, job_store(settings))),
        clock=utc_now,
    )
    return ticker.tick


def links_of(page: FetchedPage) -> list[str]:
    """Return the links of a page, using the facts extractor, which is imported late."""
    from spinneret.audits.facts.pages import read_page  # noqa: PLC0415 (import budget)

    facts = read_page(page, utc_now())[-1]
    return [link.url for link in facts.html.links if link.url] if facts.html else []

"""Wire the check worker; loads the fetcher, which API functions don't ship."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.events.wiring import RelaySettings, relay
from spinneret.kernel.clock import Clock, Remaining, utc_now
from spinneret.kernel.errors import DomainError, UrlBlocked, UrlInvalid
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import SettingsError
from spinneret.monitoring import limits
from spinneret.monitoring.checks.asking import CheckFetcher
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.service import Checker, CheckParts
from spinneret.monitoring.checks.worker import CheckWorker, Order
from spinneret.monitoring.settings import MonitoringSettings
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import Maintenance
from spinneret.outbox.dynamo import event_write
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import parse_url
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HostServiceSettings, host_pace, host_service
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.robots_policy import StoredRobots


@dataclass(frozen=True, kw_only=True)
class CheckWorkerSettings(MonitoringSettings, HostServiceSettings, RelaySettings):
    """Environment variables of the check worker."""

    user_agent: str
    max_concurrency: int = limits.CHECK_CONCURRENCY
    """Maximum number of concurrent checks in total (M-02)."""
    http_timeout: float = limits.CHECK_SECONDS
    """Timeout of one try in seconds (M-03)."""
    reference_urls: frozenset[str] = frozenset()
    """URLs requested when our own network may have caused a failure.

    If empty, every failure is attributed to the site.
    """


class NoRobots:
    """Implements RobotsStore for checks, which read no robots.txt."""

    def find(self, origin: str) -> StoredRobots | None:  # noqa: ARG002 (stores no robots.txt)
        """See RobotsStore."""
        return None

    def keep(self, origin: str, kept: StoredRobots) -> None:
        """See RobotsStore."""


def check_worker(env: Mapping[str, str]) -> Callable[[Order, Remaining], Counter[str]]:
    """Build the function that checks a tick's list of targets."""
    settings = CheckWorkerSettings.from_env(env)
    client, slots = dynamodb_client(), DynamoSlotStore(dynamodb_client(), settings.targets_table)
    fetcher = GuardedFetcher(
        policy=address_policy(settings),
        resolver=resolve_by_system,
        user_agent=settings.user_agent,
        monotonic=time.monotonic,
    )
    parts = CheckParts(
        targets=DynamoTargetStore(client, settings.targets_table),
        checks=DynamoCheckStore(
            client,
            settings.targets_table,
            settings.checks_table,
            partial(event_write, settings.events_table),
        ),
        slots=slots,
        fetcher=fetcher,
        polite=_polite(settings),
        maintenance=Maintenance(
            store=DynamoWindowStore(client, settings.targets_table), clock=utc_now
        ),
        connectivity=connectivity(
            settings.reference_urls,
            address_policy(settings),
            fetcher,
            seconds=settings.http_timeout,
            clock=utc_now,
        ),
        hand_on=relay(settings).relay,
        clock=utc_now,
        monotonic=time.monotonic,
        sleep=time.sleep,
        new_id=id_maker(utc_now),
        timeout=settings.http_timeout,
    )
    return CheckWorker(
        checker=Checker(parts),
        slots=slots,
        clock=utc_now,
        new_owner=lambda: uuid4().hex,
        interval_seconds=settings.check_interval,
        workers=settings.max_concurrency,
        slot_seconds=parts.slot_seconds,
    ).run


def _polite(settings: CheckWorkerSettings) -> Callable[[CheckFetcher], PoliteFetcher]:
    hosts, pace = host_service(settings), host_pace(settings)
    robots = RobotsGate(
        store=NoRobots(), product_token=product_token_of(settings.user_agent), clock=utc_now
    )
    progress = DynamoProgressStore(dynamodb_client(), settings.domains_table)

    def polite(asking: CheckFetcher) -> PoliteFetcher:
        return PoliteFetcher(
            fetcher=asking,
            hosts=hosts,
            pace=pace,
            robots=robots,
            progress=progress,
            clock=utc_now,
            sleep=time.sleep,
        )

    return polite


def connectivity(
    references: Collection[str],
    policy: AddressPolicy,
    fetcher: Fetcher,
    *,
    seconds: float,
    clock: Clock,
) -> Connectivity:
    """Build the connectivity check of this stage.

    All references share a timeout of `seconds`, which a check has room for.

    Raises SettingsError for an invalid reference: if it counted as unreachable, every failure would
    seem to be our own.
    """
    for text in references:
        try:
            check_url_at_submission(text, policy)
        except (UrlInvalid, UrlBlocked) as error:
            raise SettingsError(
                f"environment variable REFERENCE_URLS: {text}: {error.message}"
            ) from error
    each = seconds / max(1, len(references))
    return Connectivity(
        references=sorted(references), answers=partial(_answers, fetcher, each), clock=clock
    )


def _answers(fetcher: Fetcher, seconds: float, url: str) -> bool:
    """Return whether a reference responds.

    Each worker requests it at most every ten seconds, without the host's rate limit, since the
    operator chose it.
    """
    try:
        fetcher.fetch(FetchRequest(url=parse_url(url), method="HEAD", total_seconds=seconds))
    except DomainError:
        return False
    return True

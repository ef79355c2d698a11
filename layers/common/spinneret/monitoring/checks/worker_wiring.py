"""Wire the check worker; loads the fetcher, which API functions don't ship."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from spinneret.aws.stage import SECRETS_KEY_ID, Stage, reads
from spinneret.events.wiring import RELAY, relay
from spinneret.jobs.wiring import EVENTS_TABLE, LANES_URL, job_store
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DomainError, UrlBlocked, UrlInvalid
from spinneret.kernel.settings import SettingsError, names, number
from spinneret.monitoring import limits
from spinneret.monitoring.checks.asking import CheckFetcher
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.parts import CheckParts
from spinneret.monitoring.checks.service import Checker
from spinneret.monitoring.checks.worker import CheckWorker
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.due.sqs import SqsCheckLane
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.variables import (
    CHECKS_TABLE,
    MAX_CONCURRENCY,
    TARGETS_TABLE,
)
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import Maintenance
from spinneret.monitoring.wiring import first_checks
from spinneret.outbox.dynamo import event_write
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.records import DnsRecords
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.tcp import GuardedConnector
from spinneret.web.fetching.urls import parse_url
from spinneret.web.fetching.wiring import USER_AGENT, address_policy
from spinneret.web.fetching.worker_wiring import guarded_fetcher
from spinneret.web.hosts.wiring import DOMAINS_TABLE, HOSTS, host_pace, host_service
from spinneret.web.permits import PermitServices
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.polite_visitor import PoliteVisitor
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.robots_policy import StoredRobots

HTTP_TIMEOUT: Final = number("HTTP_TIMEOUT", limits.CHECK_SECONDS)
"""Timeout of one try in seconds (M-03)."""
REFERENCE_URLS: Final = names("REFERENCE_URLS", frozenset())
"""URLs requested when our own network may have caused a failure.

If empty, every failure is attributed to the site.
"""
CHECKS: Final = (LANES_URL, TARGETS_TABLE, CHECKS_TABLE, MAX_CONCURRENCY)


class NoRobots:
    """Implements RobotsStore for checks, which read no robots.txt."""

    def find(self, origin: str) -> StoredRobots | None:  # noqa: ARG002 (stores no robots.txt)
        return None

    def keep(self, origin: str, kept: StoredRobots) -> None:
        """See RobotsStore."""


@reads(*RELAY, *HOSTS, *CHECKS, SECRETS_KEY_ID, USER_AGENT, HTTP_TIMEOUT, REFERENCE_URLS)
def check_worker(stage: Stage) -> Callable[[Sequence[DueTarget], Remaining], Counter[str]]:
    """Build the function that makes the checks of a message."""
    client, targets = stage.dynamodb, stage[TARGETS_TABLE]
    slots, fetcher = DynamoSlotStore(client, targets), guarded_fetcher(stage)
    lane = SqsCheckLane(stage.sqs, stage[LANES_URL], stage.clock)
    write = partial(event_write, stage[EVENTS_TABLE])
    parts = CheckParts(
        targets=DynamoTargetStore(client, targets),
        checks=DynamoCheckStore(client, targets, stage[CHECKS_TABLE], write),
        slots=slots,
        fetcher=fetcher,
        polite=_polite(stage),
        seal=RequestSeal(stage.sealer),
        visitor=PoliteVisitor(services=_permits(stage)),
        connector=GuardedConnector(address_policy(stage), resolve_by_system),
        records=DnsRecords(),
        policy=address_policy(stage),
        maintenance=Maintenance(store=DynamoWindowStore(client, targets), clock=stage.clock),
        connectivity=connectivity(
            stage[REFERENCE_URLS],
            address_policy(stage),
            fetcher,
            seconds=stage[HTTP_TIMEOUT],
            clock=stage.clock,
        ),
        relay_events=relay(stage).relay,
        announce=first_checks(stage).send,
        clock=stage.clock,
        monotonic=time.monotonic,
        sleep=time.sleep,
        new_id=stage.new_id,
        timeout=stage[HTTP_TIMEOUT],
    )
    return CheckWorker(
        checker=Checker(parts=parts),
        held_since=job_store(stage).held_since,
        slots=slots,
        lane=lane,
        clock=stage.clock,
        new_owner=stage.new_token,
        workers=stage[MAX_CONCURRENCY],
        slot_seconds=parts.slot_seconds,
    ).run


def _polite(stage: Stage) -> Callable[[CheckFetcher], PoliteFetcher]:
    permits = _permits(stage)
    progress = DynamoProgressStore(stage.dynamodb, stage[DOMAINS_TABLE])
    return lambda asking: PoliteFetcher(
        fetcher=asking,
        hosts=permits.hosts,
        pace=permits.pace,
        robots=permits.robots,
        progress=progress,
        clock=permits.clock,
        sleep=permits.sleep,
    )


def _permits(stage: Stage) -> PermitServices:
    token = product_token_of(stage[USER_AGENT])
    return PermitServices(
        hosts=host_service(stage),
        pace=host_pace(stage),
        robots=RobotsGate(store=NoRobots(), product_token=token, clock=stage.clock),
        clock=stage.clock,
        sleep=time.sleep,
    )


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
    for reference in references:
        try:
            check_url_at_submission(reference, policy)
        except (UrlInvalid, UrlBlocked) as error:
            raise SettingsError(
                f"environment variable REFERENCE_URLS: {reference}: {error.message}"
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

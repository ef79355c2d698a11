"""Wire the minute rule and ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client, sqs_client
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining, utc_now
from spinneret.kernel.settings import Settings
from spinneret.monitoring import limits
from spinneret.monitoring.due.dynamo import DynamoDueIndex
from spinneret.monitoring.due.models import Announced, CheckTickResult
from spinneret.monitoring.due.service import Tick, TickScheduler
from spinneret.monitoring.due.sqs import SqsCheckLanes
from spinneret.monitoring.settings import TargetSettings
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.web.politeness.models import PaceLimits


@dataclass(frozen=True, kw_only=True)
class AnnouncerSettings(Settings):
    """Environment variables of the minute rule."""

    lanes_url: str
    check_interval: int = limits.CHECK_INTERVAL_SECONDS


@dataclass(frozen=True, kw_only=True)
class TickSettings(AnnouncerSettings, TargetSettings):
    """Environment variables of ticks."""

    max_concurrency: int = limits.CHECK_CONCURRENCY
    rate_limit__default_rps: float = bounds.DOMAIN_RATE
    domain_burst: int = bounds.DOMAIN_BURST


def announcer(env: Mapping[str, str]) -> Callable[[], Announced]:
    """Build the function that the minute rule calls."""
    settings = AnnouncerSettings.from_env(env)
    lanes = SqsCheckLanes(sqs_client(), settings.lanes_url)
    return TickScheduler(lanes=lanes, clock=utc_now, interval_seconds=settings.check_interval).run


def tick(env: Mapping[str, str]) -> Callable[[datetime, Remaining], CheckTickResult]:
    """Build the handler of ticks."""
    settings = TickSettings.from_env(env)
    client = dynamodb_client()
    ticking = Tick(
        index=DynamoDueIndex(client, settings.targets_table),
        lanes=SqsCheckLanes(sqs_client(), settings.lanes_url),
        slots=DynamoSlotStore(client, settings.targets_table),
        clock=utc_now,
        new_owner=lambda: uuid4().hex,
        interval_seconds=settings.check_interval,
        workers=settings.max_concurrency,
        pace=PaceLimits(rate=settings.rate_limit__default_rps, burst=settings.domain_burst),
    )
    return lambda at, _: ticking.run(at)

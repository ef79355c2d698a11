"""Build host settings and the pace of hosts."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.kernel import bounds
from spinneret.kernel.settings import integer, number, text
from spinneret.web import limits
from spinneret.web.fetching.wiring import ADDRESSES, address_policy
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import BreakerLimits, PaceLimits
from spinneret.web.politeness.service import HostRateLimiter

DOMAINS_TABLE: Final = text("DOMAINS_TABLE")
RATE_LIMIT__DEFAULT_RPS: Final = number("RATE_LIMIT__DEFAULT_RPS", bounds.DOMAIN_RATE)
"""Requests per second to one host, unless settings slow it down."""
DOMAIN_BURST: Final = integer("DOMAIN_BURST", bounds.DOMAIN_BURST)
BREAKER_THRESHOLD: Final = integer("CIRCUIT_BREAKER__THRESHOLD", limits.BREAKER_FAILURES)
BREAKER_TIMEOUT_S: Final = number("CIRCUIT_BREAKER__TIMEOUT_S", limits.BREAKER_OPEN_SECONDS)
PACE: Final = (RATE_LIMIT__DEFAULT_RPS, DOMAIN_BURST, BREAKER_THRESHOLD, BREAKER_TIMEOUT_S)
HOSTS: Final = (*ADDRESSES, *PACE, DOMAINS_TABLE)


def host_service(stage: Stage) -> HostService:
    """Return the host settings of this stage."""
    return HostService(
        store=DynamoHostStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        pace=host_pace(stage),
        policy=address_policy(stage),
        clock=stage.clock,
        default=pace_limits(stage),
    )


def host_pace(stage: Stage) -> HostRateLimiter:
    """Return the pace of hosts, which all tenants share."""
    return HostRateLimiter(
        ledger=DynamoHostStateStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        clock=stage.clock,
        new_token=stage.new_token,
        stage=pace_limits(stage),
    )


def pace_limits(stage: Stage) -> PaceLimits:
    """Return the stage's pace at a host without slower settings."""
    return PaceLimits(
        rate=stage[RATE_LIMIT__DEFAULT_RPS],
        burst=stage[DOMAIN_BURST],
        breaker=BreakerLimits(
            threshold=stage[BREAKER_THRESHOLD], open_seconds=stage[BREAKER_TIMEOUT_S]
        ),
    )

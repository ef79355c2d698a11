"""Build the polite fetcher; this module loads the fetcher, which API functions don't package."""

from __future__ import annotations

import time
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.kernel.clock import utc_now
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import host_pace, host_service
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.s3 import S3RobotsStore
from spinneret.web.proxies.wiring import ProxySettings, rotating_fetcher


@dataclass(frozen=True, kw_only=True)
class PoliteFetchSettings(ProxySettings):
    """Settings of proxies, plus the bucket of robots.txt files.

    robots.txt is matched against the product token of `user_agent` (name/version plus a contact
    URL).
    """

    content_bucket: str


def polite_fetcher(settings: PoliteFetchSettings) -> PoliteFetcher:
    """Build the polite fetcher of this stage."""
    direct = GuardedFetcher(
        policy=address_policy(settings),
        resolver=resolve_by_system,
        user_agent=settings.user_agent,
        monotonic=time.monotonic,
    )
    return PoliteFetcher(
        fetcher=rotating_fetcher(settings, direct),
        hosts=host_service(settings),
        pace=host_pace(settings),
        robots=RobotsGate(
            store=S3RobotsStore(s3_client(), settings.content_bucket),
            product_token=product_token_of(settings.user_agent),
            clock=utc_now,
        ),
        progress=DynamoProgressStore(dynamodb_client(), settings.domains_table),
        clock=utc_now,
        sleep=time.sleep,
    )

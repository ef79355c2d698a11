"""Build the polite fetcher; this module loads the fetcher, which API functions don't package."""

import time
from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.wiring import USER_AGENT
from spinneret.web.fetching.worker_wiring import guarded_fetcher
from spinneret.web.hosts.wiring import DOMAINS_TABLE, host_pace, host_service
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.s3 import S3RobotsStore
from spinneret.web.proxies.wiring import PROXIES, rotating_fetcher

POLITE_FETCHING: Final = (*PROXIES, USER_AGENT, CONTENT_BUCKET)


def polite_fetcher(stage: Stage) -> PoliteFetcher:
    """Build the polite fetcher of this stage, which stores robots.txt in the content bucket."""
    return PoliteFetcher(
        fetcher=rotating_fetcher(stage, guarded_fetcher(stage)),
        hosts=host_service(stage),
        pace=host_pace(stage),
        robots=RobotsGate(
            store=S3RobotsStore(stage.s3, stage[CONTENT_BUCKET]),
            product_token=product_token_of(stage[USER_AGENT]),
            clock=stage.clock,
        ),
        progress=DynamoProgressStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        clock=stage.clock,
        sleep=time.sleep,
    )

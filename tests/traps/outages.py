"""Deep crawls of the site with S3 and DynamoDB, whose calls fail or hang at botocore's endpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from moto.core.models import botocore_stubber

from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.crawl.s3 import S3FetchCache
from spinneret.crawl.s3_parts import S3PartStore
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.kernel import bounds
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.ports import FrontierStore
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.s3 import S3RobotsStore
from tests.conftest import REGION
from tests.fakes.politeness import pace_at
from tests.fakes.time import HandClock
from tests.tables import create_tables
from tests.traps.crawls import Steps, TrapCrawl
from tests.traps.site import TrapSite

NEEDED: Final = frozenset({"Jobs", "Idempotency", "Events", "Frontier", "Domains", "Documents"})
BUCKET: Final = "contents"


class How(StrEnum):
    """Effect of an outage on a call."""

    REFUSED = "refused"
    """The connection fails at once."""
    HANGS = "hangs"
    """No response arrives until the client's time-out."""
    ANSWERS_LOST = "answers lost"
    """The call takes effect, but its response is lost."""


@dataclass
class Outage:
    """An outage of one service that begins with a certain request to the site."""

    service: str
    how: How
    seconds: float
    from_request: int
    clock: HandClock
    steps: Steps
    until: datetime | None = None
    met: int = 0
    """Number of calls that the outage affected."""

    def begin(self) -> None:
        """Begin the outage."""
        self.until = self.clock() + timedelta(seconds=self.seconds)

    def __call__(self, request: Any, event_name: str, **_: Any) -> None:
        """Fail a call of the service before it is sent."""
        if self.until is None or self.clock() >= self.until:
            return
        self.met += 1
        self.steps.keeps_nothing()
        if self.how is How.REFUSED:
            raise EndpointConnectionError(endpoint_url=request.url)
        if self.how is How.ANSWERS_LOST:
            botocore_stubber(event_name, request)
        self.clock.advance(bounds.AWS_CALL_SECONDS)
        raise ReadTimeoutError(endpoint_url=request.url)


class Services:
    """Clients of moto that try each call once; the product's retries would only add time."""

    def __init__(self) -> None:
        session = boto3.Session(
            aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
        )
        once = Config(retries={"total_max_attempts": 1})
        made: Any = session.resource("dynamodb", config=once)
        self.dynamodb: Any = made.meta.client
        self.s3: Any = session.client("s3", config=once)
        self.names: Mapping[str, str] = create_tables(self.dynamodb)
        for name in set(self.names) - NEEDED:  # moto copies all tables for a transaction
            self.dynamodb.delete_table(TableName=self.names[name])
        self.s3.create_bucket(Bucket=BUCKET)

    def meet(self, outage: Outage) -> None:
        """Let the outage affect the calls of its service while it lasts."""
        client = self.s3 if outage.service == "s3" else self.dynamodb
        client.meta.events.register_first("before-send", outage)


class StoredCrawl(TrapCrawl):
    """A crawl that stores its rows and bodies in DynamoDB and S3, like the product."""

    def __init__(self, site: TrapSite, steps: Steps, *, workers: int, services: Services) -> None:
        self._services = services
        super().__init__(site, steps, workers=workers)
        client, bucket, names = services.dynamodb, services.s3, services.names
        self.store = DynamoJobStore(
            client, names["Jobs"], names["Idempotency"], names["Events"], clock=self.clock
        )
        self.documents = DynamoDocumentStore(client, names["Documents"], names["Jobs"])
        self.contents = S3ContentStore(bucket, BUCKET)
        self.parts = S3PartStore(bucket, BUCKET)
        self.cache = S3FetchCache(bucket, BUCKET)
        self.robots = S3RobotsStore(bucket, BUCKET)
        self.progress = DynamoProgressStore(client, names["Domains"])
        self.slots = DynamoSemaphore(client, names["Frontier"])
        self.hosts.pace = pace_at(DynamoHostStateStore(client, names["Domains"]), self.clock)
        self.hosts.service = HostService(
            store=DynamoHostStore(client, names["Domains"]),
            pace=self.hosts.pace,
            policy=AddressPolicy(),
            clock=self.clock,
        )
        self.outage: Outage | None = None

    def frontier_store(self) -> FrontierStore:
        """Return the store of the crawl's frontier."""
        return DynamoFrontierStore(self._services.dynamodb, self._services.names["Frontier"])

    def meet(self, service: str, how: How, seconds: float, from_request: int) -> Outage:
        """Plan an outage that begins with a certain request to the site, and return it."""
        self.outage = Outage(service, how, seconds, from_request, self.clock, self.steps)
        self._services.meet(self.outage)
        return self.outage

    def _ask_for(self, name: str) -> None:
        super()._ask_for(name)
        if self.outage is not None and self.requests.total() == self.outage.from_request:
            self.outage.begin()

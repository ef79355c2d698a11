"""The API functions on fakes, called with the events that API Gateway sends."""

import copy
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.health_routes import routes as health_routes
from core.jobs_routes import routes as jobs_routes
from core.keys_routes import routes as keys_routes
from core.uploads_routes import routes as uploads_routes
from crawl.crawl_routes import routes as crawl_routes
from crawl.webhooks_routes import routes as webhooks_routes
from search.search_routes import routes as search_routes
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.uploads.service import UploadService
from spinneret.aws.stage import Builder
from spinneret.content.search.service import SearchService
from spinneret.jobs.control import JobControl
from spinneret.jobs.wiring import job_waits
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.service import HealthService
from spinneret.runtime.http import entrypoint
from spinneret.runtime.http.routes import Routes
from streams.streams_routes import routes as streams_routes
from tests.fakes.crawling import CrawlWorld
from tests.fakes.keys import FakeKeyStore, FakeRateLimitStore
from tests.fakes.uploads import FakeUploadStore
from tests.fakes.webhook_world import WebhookWorld
from tests.kinds import KINDS
from tests.unit.runtime.documented import assert_documented

EVENTS = Path(__file__).resolve().parents[3] / "events"
SUBMIT, GET = "crawl/submit.json", "crawl/get.json"
QUERY, HEALTH = "search/query.json", "core/health.json"
ISSUE = "core/issue_key.json"
STREAM = "streams/stream.json"
ALLOWED_ORIGIN = "https://console.example.com"


@dataclass(frozen=True)
class Answer:
    """Response that API Gateway would return."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The parsed body."""
        return json.loads(self.text)


class Invocation:
    """The context object of one invocation."""

    function_name = "api"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:api"
    aws_request_id = "0d9f2c9e-0000-4000-8000-000000000001"

    def __init__(self, seconds: float = 29.0) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        """Return the invocation's remaining time."""
        return int(self._seconds * 1000)


class _NoDeepCrawls:
    """A store without deep crawls."""

    def get(self, _tenant: str, _job_id: str) -> None:
        return None


class Services:
    """The services of all routes, each in the attribute that its routes read."""

    def __init__(
        self,
        world: CrawlWorld,
        hooks: WebhookWorld,
        keys: KeyService,
        uploads: UploadService,
        down: set[str],
    ) -> None:
        def probe(name: str) -> None:
            if name in down:
                raise DependencyUnavailable(name)

        self.keys = keys
        self.uploads = uploads
        self.origins = frozenset({ALLOWED_ORIGIN})
        self.crawl: Any = world.crawls()
        self.deep: Any = _NoDeepCrawls()
        self.webhooks: Any = hooks.service
        self.jobs: Any = JobControl(
            store=world.store,
            queue=world.queue,
            kinds=KINDS,
            clock=world.clock,
        )
        self.waits: Any = world.waits()
        self.search: Any = SearchService(
            embedder=world.embedder, index=world.index, documents=world.documents
        )
        self.tags: Any = world.tags
        self.health: Any = HealthService(
            probes={
                name: lambda name=name: probe(name) for name in ("dynamodb", "sqs", "opensearch")
            },
            absent=("browser",),
        )


AREAS: Final[Mapping[str, Sequence[Routes[Any]]]] = {
    "crawl": (crawl_routes, webhooks_routes),
    "search": (search_routes,),
    "core": (health_routes, jobs_routes, keys_routes, uploads_routes),
    "streams": (streams_routes,),
}


class Api:
    """Four API functions over one world."""

    def __init__(self) -> None:
        self.hooks = WebhookWorld()
        self.crawls = CrawlWorld()
        self.crawls.webhooks = self.hooks.service
        self.key_store = FakeKeyStore()
        self.windows = FakeRateLimitStore()
        self.down: set[str] = set()
        numbers = itertools.count(1)
        self.keys = KeyService(
            keys=self.key_store,
            windows=self.windows,
            clock=self.crawls.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
            random=lambda length: next(numbers).to_bytes(length, "big"),
        )
        self.upload_store = FakeUploadStore()
        uploads = UploadService(
            store=self.upload_store,
            clock=self.crawls.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        )
        self.services = Services(self.crawls, self.hooks, self.keys, uploads, self.down)
        self.as_documented = True
        """Whether responses must be documented; False if a test makes a service fail
        unrealistically."""
        self._handlers: dict[str, Any] = {}
        """Handlers by area, created at the first request, because most tests use only one."""

    def key(
        self,
        tenant: str = "acme",
        *scopes: Scope,
        rate_limit_rpm: int = bounds.KEY_REQUESTS_PER_MINUTE_MAX,
    ) -> str:
        """Return the secret of a new key; by default, it has both ordinary scopes and the
        highest rate.
        """
        given = frozenset(scopes or (Scope.READ, Scope.WRITE))
        return self.keys.issue(tenant, "test", given, rate_limit_rpm=rate_limit_rpm)[1]

    def send(self, name: str, key: str | None = None, **changes: Any) -> Answer:
        """Send a stored event with changes, and return the response, which must be documented.

        `changes` are `body` (text or JSON), `headers` (None drops one) and any other field of the
        event.
        """
        event = changed(load(name), key, **changes)
        answer = self._handler(name.partition("/")[0])(event, Invocation())
        headers = {
            **{name: values[-1] for name, values in answer.get("multiValueHeaders", {}).items()},
            **answer.get("headers", {}),
        }
        found = Answer(answer["statusCode"], headers, answer["body"])
        if self.as_documented:
            method, path = event["httpMethod"], event["path"]
            assert_documented(method, path, found.status, headers, found.text)
        return found

    def _handler(self, area: str) -> Any:
        if area not in self._handlers:
            function = entrypoint.Api(f"{area}-api", *AREAS[area], make=self._made)
            self._handlers[area] = function.handler
        return self._handlers[area]

    def _made(self, build: Builder[Any]) -> Any:
        return self.services.waits if build is job_waits else self.services


def load(name: str) -> dict[str, Any]:
    """Return a stored event."""
    event: dict[str, Any] = json.loads((EVENTS / name).read_text())
    return event


def changed(
    event: Mapping[str, Any],
    key: str | None,
    *,
    body: Any = None,
    headers: Mapping[str, str | None] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a copy of an event with another key, body, headers or fields."""
    copied = copy.deepcopy(dict(event))
    wanted = {**copied["headers"], "X-Api-Key": key, **(headers or {})}
    copied["headers"] = {name: value for name, value in wanted.items() if value is not None}
    copied["multiValueHeaders"] = {name: [value] for name, value in copied["headers"].items()}
    if body is not None:
        copied["body"] = body if isinstance(body, str) else json.dumps(body)
    return {**copied, **fields}

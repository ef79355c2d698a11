"""Work that continues while a part of the stack is stopped, and proofs of its results.

Each kind of work begins something before the stop, submits more during it, and proves at the end
that everything was done exactly once.
"""

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import uuid4

import httpx

from spinneret.crawl.kinds import CRAWL
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.models import Draft, JobRef, Reply
from spinneret.jobs.service import JobService
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.outbox.dynamo import DynamoOutboxStore
from spinneret.outbox.models import SubjectRef
from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.fakes.jobs import FakeJobQueue
from tests.markets.server import MarketServer

PAGES: Final = 10  # of a deep crawl, and of a batch
SOME: Final = 4
REFUSED: Final = {429, 503}
"""Statuses that a client may get instead of the response."""
ACCEPTED_SECONDS: Final = 300.0
ENDED: Final = {"completed", "partially_failed", "failed", "cancelled", "expired"}


class Work(Protocol):
    """A kind of work; each stop has a new one."""

    def begin(self) -> None:
        """Begin the work that is in progress when the part stops."""

    def submit(self) -> None:
        """Submit more work during the stop."""

    def ended(self) -> bool:
        """Return whether all work has ended, as far as the API responds."""

    def prove(self) -> None:
        """Assert that everything was done exactly once."""

    def end(self) -> None:
        """Close the connections."""


@dataclass(frozen=True)
class Place:
    """Environment of the work."""

    deployed: Deployed
    aws: Aws
    website: Website
    site_url: str
    """URL of a website of linked pages."""
    markets: MarketServer
    seller: Tenant
    """A tenant that has connected the marketplaces."""


class Client:
    """A tenant that repeats each request until it is accepted, under the same idempotency key."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant

    def post(self, path: str, body: Any = None) -> dict[str, Any]:
        """Repeat the request until it is accepted; return the response."""
        key, deadline = uuid4().hex, time.monotonic() + ACCEPTED_SECONDS
        while True:
            answer = self._try("POST", path, body, Idempotency_Key=key)
            if answer is not None:
                assert answer.status_code in {200, 201, 202}, answer.text
                accepted: dict[str, Any] = answer.json()
                return accepted
            assert time.monotonic() < deadline, f"{path} wasn't accepted"
            time.sleep(0.5)

    def get(self, path: str) -> dict[str, Any] | None:
        """Return the response; None if the caller has to try again."""
        answer = self._try("GET", path)
        if answer is None:
            return None
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def surely(self, path: str) -> dict[str, Any]:
        """Return the response at the end of the test, when the request must succeed."""
        found = self.get(path)
        assert found is not None, path
        return found

    def have_ended(self, paths: list[str]) -> bool:
        """Return whether all these jobs have ended."""
        return all((job := self.get(path)) is not None and job["status"] in ENDED for path in paths)

    def _try(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        try:
            answer = self.tenant(method, path, body, **headers)
        except httpx.TransportError:
            return None
        # A 5xx without a code is the gateway's own: no function responded, or none in time.
        gateway = answer.status_code >= 500 and "code" not in answer.json()
        return None if gateway or answer.status_code in REFUSED else answer


@dataclass
class _OfTenant:
    place: Place
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = Client(self.place.deployed.tenant("admin"))

    @property
    def name(self) -> str:
        """Return the unique name of the tenant."""
        return self.client.tenant.name

    def page(self) -> str:
        """Return the URL of a page that no test has crawled before."""
        return f"{self.place.website.url}/page?text={self.name}+{uuid4().hex[:8]}"

    def hook(self, *events: str, to: str | None = None) -> dict[str, Any]:
        """Create an endpoint for the tenant's events, which `website.hooks` has by this name."""
        name = to or self.name
        body = {
            "name": name,
            "url": f"{self.place.website.url}/hook?name={name}",
            "events": list(events),
        }
        answer = self.client.tenant("POST", "/api/v1/webhooks", body)  # secrets aren't replayed
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def told(self) -> dict[str, dict[str, Any]]:
        """Return the events that came to the endpoint, by delivery id."""
        return {
            each.headers["webhook-id"]: json.loads(each.body)
            for each in self.place.website.hooks[self.name]
        }

    def end(self) -> None:
        """Close the connections."""
        self.client.tenant.close()


@dataclass
class Submissions(_OfTenant):
    """Plain crawls, submitted before and during the stop."""

    crawls: dict[str, str] = field(default_factory=dict)
    """URLs by job id."""

    def begin(self) -> None:
        self.submit()

    def submit(self) -> None:
        for _ in range(SOME):
            url = self.page()
            self.crawls[self.client.post("/api/v1/crawl", {"url": url})["job_id"]] = url

    def ended(self) -> bool:
        return self.client.have_ended([f"/api/v1/crawl/{job_id}" for job_id in self.crawls])

    def prove(self) -> None:
        jobs = self.client.surely("/api/v1/jobs?limit=100")["items"]
        assert {job["job_id"]: job["status"] for job in jobs} == dict.fromkeys(
            self.crawls, "completed"
        )
        documents = self.client.surely("/api/v1/documents?limit=100")["items"]
        assert Counter(each["url"] for each in documents) == Counter(self.crawls.values())


@dataclass
class DeepCrawls(_OfTenant):
    """Crawls that follow links: one is in progress, and one is submitted during the stop."""

    job_ids: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.submit()

    def submit(self) -> None:
        wanted = {
            "url": self.place.site_url,
            "max_pages": PAGES,
            "max_depth": 10 + len(self.job_ids),
        }
        self.job_ids.append(self.client.post("/api/v1/crawl/deep", wanted)["job_id"])

    def ended(self) -> bool:
        return self.client.have_ended([f"/api/v1/crawl/{job_id}" for job_id in self.job_ids])

    def prove(self) -> None:
        assert len(set(self.job_ids)) == 2
        for job_id in self.job_ids:
            job = self.client.surely(f"/api/v1/crawl/{job_id}")
            assert (job["status"], job["pages_crawled"]) == ("completed", PAGES), job
            crawled = f"/api/v1/crawl/{job_id}/pages?status=crawled&limit=100"
            pages = [page["url"] for page in self.client.surely(crawled)["items"]]
            assert len(set(pages)) == len(pages) == PAGES


@dataclass
class Batches(_OfTenant):
    """Batches of crawls; each batch is reported once."""

    batch_ids: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.hook("crawl_batch.*")
        self.submit()

    def submit(self) -> None:
        urls = [self.page() for _ in range(PAGES)]
        self.batch_ids.append(self.client.post("/api/v1/crawl/batch", {"urls": urls})["batch_id"])

    def ended(self) -> bool:
        paths = [f"/api/v1/crawl/{each}" for each in self.batch_ids]
        return self.client.have_ended(paths) and len(self.told()) >= len(paths)

    def prove(self) -> None:
        for batch_id in self.batch_ids:
            batch = self.client.surely(f"/api/v1/crawl/{batch_id}")
            counted = (batch["status"], batch["total_count"], batch["completed_count"])
            assert counted == ("completed", PAGES, PAGES), batch
        told = [each["data"]["job_id"] for each in self.told().values()]
        assert sorted(told) == sorted(self.batch_ids)


@dataclass
class Publishing:
    """Products that become listings: one batch in progress, then another batch and a single job."""

    place: Place
    client: Client = field(init=False)
    products: list[dict[str, Any]] = field(default_factory=list)
    """Products to publish; the last one is for Etsy."""
    paths: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client = Client(self.place.seller)

    def begin(self) -> None:
        images = ["https://images.example/front.jpg"] * (2 * SOME)
        images.append(f"{self.place.markets.url}/image/front.jpg")
        self.products = [self._product(image) for image in images]
        self._publish_on_ebay(self.products[:SOME])

    def submit(self) -> None:
        self._publish_on_ebay(self.products[SOME:-1])
        wanted = {
            "marketplace": "etsy",
            "action_code": "publish",
            "product_id": self.products[-1]["product_id"],
        }
        job_id = self.client.post("/api/marketplace/jobs", wanted)["job_id"]
        self.paths.append(f"/api/marketplace/jobs/{job_id}")

    def ended(self) -> bool:
        return self.client.have_ended(self.paths)

    def prove(self) -> None:
        statuses = [self.client.surely(path)["status"] for path in self.paths]
        assert statuses == ["completed"] * 3
        markets = self.place.markets
        with markets.lock:
            listed = [len(markets.ebay.live(each["sku"])) for each in self.products[:-1]]
            listed.append(len(markets.etsy.live(self.products[-1]["title"])))
        assert listed == [1] * len(self.products)

    def end(self) -> None:
        """Do nothing, because other tests use the seller."""

    def _publish_on_ebay(self, products: list[dict[str, Any]]) -> None:
        ids = [each["product_id"] for each in products]
        wanted = {"marketplace": "ebay", "action_code": "publish", "product_ids": ids}
        batch_id = self.client.post("/api/batch-jobs", wanted)["batch_id"]
        self.paths.append(f"/api/batch-jobs/{batch_id}")

    def _product(self, image: str) -> dict[str, Any]:
        return self.client.post(
            "/api/products",
            {
                "title": f"Coat {uuid4().hex[:8]}",
                "description": "Worn twice.",
                "price": 8900,
                "images": [image],
                "attributes": {"brand": "barbour", "condition": "good"},
                "overrides": {"etsy": {"category_id": "1837"}},
            },
        )


@dataclass
class Checks(_OfTenant):
    """Targets that are always up: checks continue, no check is made twice, no incident opens."""

    path: str = ""
    resumed: datetime | None = None

    def begin(self) -> None:
        made = self.client.post("/v1/targets", {"url": self.page(), "interval_seconds": 15})
        self.path = f"/v1/targets/{made['id']}"

    def submit(self) -> None:
        self.client.post("/v1/targets", {"url": self.page(), "interval_seconds": 15})

    def ended(self) -> bool:
        self.resumed = self.resumed or utc_now()
        found = [self.client.get(f"{path}/results?limit=1") for path in self._targets()]
        return len(found) == 2 and all(
            each is not None
            and each["items"]
            and datetime.fromisoformat(each["items"][0]["checked_at"]) > self.resumed
            for each in found
        )

    def prove(self) -> None:
        paths = self._targets()
        assert len(paths) == 2
        for path in paths:
            results = self.client.surely(f"{path}/results?limit=100")["items"]
            assert {each["outcome"] for each in results} == {"up"}, results
            slots = [
                datetime.fromisoformat(each["checked_at"]) - timedelta(milliseconds=each["late_ms"])
                for each in results
            ]
            assert len(set(slots)) == len(slots), slots
            assert self.client.surely(f"{path}/incidents")["items"] == []
            self.client.tenant("POST", f"{path}/pause")

    def _targets(self) -> list[str]:
        listed = self.client.get("/v1/targets")
        return [] if listed is None else [f"/v1/targets/{each['id']}" for each in listed["items"]]


@dataclass
class Deliveries(_OfTenant):
    """Webhooks to several receivers that fail once each; some are sent during the stop."""

    receivers: dict[str, str] = field(default_factory=dict)
    """Paths of the endpoints by name."""

    def begin(self) -> None:
        for name in (f"{self.name}-{number}" for number in range(SOME)):
            self.place.website.statuses[name] = [500]
            made = self.hook("*", to=name)
            self.receivers[name] = f"/api/v1/webhooks/{made['endpoint_id']}"
        self.submit()

    def submit(self) -> None:
        for path in self.receivers.values():
            self.client.post(f"{path}/test")

    def ended(self) -> bool:
        logs = [self.client.get(f"{path}/deliveries") for path in self.receivers.values()]
        return all(
            log is not None
            and [line["status"] in {"delivered", "failed"} for line in log["items"]] == [True] * 2
            for log in logs
        )

    def prove(self) -> None:
        for name, path in self.receivers.items():
            log = self.client.surely(f"{path}/deliveries")["items"]
            came = {each.headers["webhook-id"] for each in self.place.website.hooks[name]}
            assert {line["delivery_id"]: line["status"] for line in log} == dict.fromkeys(
                came, "delivered"
            )
            assert len(log) == len(came) == 2


@dataclass
class Outbox(Submissions):
    """Ends of crawls; each is one event, which every sink gets."""

    def begin(self) -> None:
        self.hook("crawl.*")
        self.submit()

    def ended(self) -> bool:
        return len(self.told()) >= len(self.crawls) and not self._pending()

    def prove(self) -> None:
        events = [(each["type"], each["data"]["job_id"]) for each in self.told().values()]
        assert sorted(events) == sorted(("crawl.completed", job_id) for job_id in self.crawls)
        assert self._pending() == []

    def _pending(self) -> list[str]:
        outbox = DynamoOutboxStore(
            self.place.aws.dynamodb(), self.place.deployed.outputs["EventsTable"]
        )
        subjects = [SubjectRef(tenant=self.name, subject=job_id) for job_id in self.crawls]
        return [each.event.id for ref in subjects for each in outbox.pending(ref, None, 10).events]


@dataclass
class Sweeping(_OfTenant):
    """Crawls whose messages were lost; only the sweeper can send new ones."""

    crawls: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Store copies of a crawl without a message."""
        outputs = self.place.deployed.outputs
        store = DynamoJobStore(
            self.place.aws.dynamodb(),
            outputs["JobsTable"],
            outputs["IdempotencyTable"],
            clock=utc_now,
        )
        url = self.page()
        first = self.client.post("/api/v1/crawl", {"url": url})["job_id"]
        found = store.get(JobRef(tenant=self.name, job_id=first))
        assert found is not None
        losing = JobService(
            store=store,
            queue=FakeJobQueue(),
            kinds=all_kinds(),
            clock=utc_now,
            new_id=id_maker(utc_now),
        )
        payload = json.dumps(found.payload)
        drafts = [
            Draft(
                kind=CRAWL,
                payload=json.loads(payload.replace(url, self.page())),
                priority=found.priority,
                duplicate_key=None,
            )
            for _ in range(SOME)
        ]
        answer = losing.submit(
            self.name,
            drafts,
            None,
            lambda placed: Reply(status=202, body={"ids": [each.job.id for each in placed]}),
        )
        self.crawls = [first, *answer.reply.body["ids"]]

    def submit(self) -> None:
        """Do nothing: no work comes during the stop."""

    def ended(self) -> bool:
        return self.client.have_ended([f"/api/v1/crawl/{job_id}" for job_id in self.crawls])

    def prove(self) -> None:
        jobs = self.client.surely("/api/v1/jobs?limit=100")["items"]
        assert {job["job_id"]: job["status"] for job in jobs} == dict.fromkeys(
            self.crawls, "completed"
        )


WORKS: Final[Mapping[str, type[Any]]] = {
    "submissions": Submissions,
    "deep crawls": DeepCrawls,
    "batches": Batches,
    "publishing": Publishing,
    "checks": Checks,
    "deliveries": Deliveries,
    "outbox": Outbox,
    "sweeper": Sweeping,
}

"""Locust file with the users of benchmarks/load.py; its environment lacks this application.

Of 20 requests, 8 search, 4 read a crawl's status, 3 read a document, 2 submit a crawl, 2 list
targets and 1 creates a target. Each user waits one to three seconds between its requests.
"""

import json
import os
import random
from collections import Counter, defaultdict
from typing import Any, Final

from locust import HttpUser, between, events, task

GIVEN: Final[dict[str, Any]] = json.loads(os.environ["LOAD"])
QUERIES: Final = (
    "sticky silk",
    "how a spider builds a wheel",
    "ballooning over the ocean",
    "venom",
    "eyes and vision of jumping spiders",
    "egg sac",
    "webs of funnel weavers",
    "what do spiders eat",
)
STATUSES: Final[dict[str, Counter[int]]] = defaultdict(Counter)
"""Number of responses by route and status."""


class ApiUser(HttpUser):
    """A client with the key of one of the tenants."""

    wait_time = between(1, 3)

    def on_start(self) -> None:
        """Choose a key, and list the ids of some documents."""
        self.client.headers["X-API-Key"] = random.choice(GIVEN["keys"])
        self.client.trust_env = False
        found = self._call("GET", "/api/v1/documents?limit=50", "GET /api/v1/documents")
        self.documents = [each["document_id"] for each in found.get("items", ())]
        self.jobs: list[str] = []

    @task(8)
    def search(self) -> None:
        """Search; half of the queries aren't in the cache."""
        query = random.choice(QUERIES)
        if random.random() < 0.5:
            query = f"{query} {random.randrange(10_000)}"
        self._call("POST", "/api/v1/search", body={"query": query, "limit": 10})

    @task(4)
    def status(self) -> None:
        """Read the status of a crawl of this user."""
        if self.jobs:
            job = random.choice(self.jobs)
            self._call("GET", f"/api/v1/crawl/{job}", "GET /api/v1/crawl/{job_id}")

    @task(3)
    def document(self) -> None:
        """Read a document with its text."""
        if self.documents:
            document = random.choice(self.documents)
            route = "/api/v1/documents/{document_id}"
            self._call("GET", f"/api/v1/documents/{document}", f"GET {route}")

    @task(2)
    def submit(self) -> None:
        """Submit a crawl with a new query in its URL, so that it isn't a duplicate."""
        url = GIVEN["site"] + random.choice(GIVEN["paths"])
        job = self._call(
            "POST", "/api/v1/crawl", body={"url": f"{url}?load={random.randrange(10**9)}"}
        )
        if "job_id" in job:
            self.jobs = [*self.jobs[-9:], job["job_id"]]

    @task(2)
    def targets(self) -> None:
        """Read the first page of targets."""
        self._call("GET", "/v1/targets?limit=20", "GET /v1/targets")

    @task(1)
    def create_target(self) -> None:
        """Create a target that is checked once an hour, so that checks don't add to the load."""
        url = f"{GIVEN['site']}/?target={random.randrange(10**9)}"
        self._call("POST", "/v1/targets", body={"url": url, "interval_seconds": 3600})

    def _call(
        self, method: str, path: str, route: str | None = None, body: Any = None
    ) -> dict[str, Any]:
        """Send a request, and return the JSON object; status 429 isn't counted as an error."""
        name = route or f"{method} {path}"
        with self.client.request(
            method, path, json=body, name=name, catch_response=True, timeout=35
        ) as answer:
            STATUSES[name][answer.status_code] += 1
            if answer.status_code == 0:
                answer.failure("no answer in time")
            elif answer.ok:
                found: dict[str, Any] = answer.json()
                return found
            elif answer.status_code == 429:
                answer.success()
            else:
                answer.failure(f"{answer.status_code}: {answer.text[:300]}")
        return {}


@events.quitting.add_listener
def _report(environment: Any, **_: Any) -> None:
    """Print the table of docs/benchmarks.md."""
    print("\n| route | requests | p50, p95, p99 (ms) | 2xx, 429, others |\n|---|---|---|---|")
    for entry in sorted(environment.stats.entries.values(), key=lambda each: -each.num_requests):
        statuses = STATUSES[entry.name]
        good = sum(count for status, count in statuses.items() if 200 <= status < 300)
        others = statuses.total() - good - statuses[429]
        times = ", ".join(
            f"{entry.get_response_time_percentile(each):.0f}" for each in (0.5, 0.95, 0.99)
        )
        counts = f"{good}, {statuses[429]}, {others}"
        print(f"| `{entry.name}` | {entry.num_requests} | {times} | {counts} |")
    total = environment.stats.total
    print(f"\n{total.total_rps:.1f} requests a second, {total.num_failures} failed")
    environment.process_exit_code = 1 if total.num_failures else 0

"""Endpoints, the delivery log and cooldowns in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from spinneret.events.webhooks.models import (
    Cooldown,
    Delivery,
    Endpoint,
    SealedSecrets,
    WebhookEvent,
)
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import Conflict, LeaseLost
from spinneret.kernel.paging import Page
from tests.fakes.dependency import FakeDependency
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

URL = "https://receiver.example/hook"


class FakeEndpointStore(FakeDependency):
    """Implements EndpointStore."""

    def __init__(self) -> None:
        self._endpoints: dict[tuple[str, str], Endpoint] = {}
        self._defaults: dict[str, SealedSecrets] = {}

    def add(self, endpoint: Endpoint, at_most: int) -> None:
        self._require()
        taken = (endpoint.tenant, endpoint.id) in self._endpoints
        if taken or sum(tenant == endpoint.tenant for tenant, _ in self._endpoints) >= at_most:
            raise Conflict("too many webhooks")
        self._endpoints[endpoint.tenant, endpoint.id] = endpoint

    def get(self, tenant: str, endpoint_id: str) -> Endpoint | None:
        self._require()
        return self._endpoints.get((tenant, endpoint_id))

    def find(self, tenant: str, endpoint_ids: Sequence[str]) -> dict[str, Endpoint]:
        found = ((each, self.get(tenant, each)) for each in endpoint_ids)
        return {each: endpoint for each, endpoint in found if endpoint is not None}

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Endpoint]:
        self._require()
        mine = {key[1]: each for key, each in self._endpoints.items() if key[0] == tenant}
        ids, last = _newest_first(mine, after, limit)
        return Page(items=tuple(mine[each] for each in ids), after=last)

    def replace(self, former: Endpoint, endpoint: Endpoint) -> bool:
        standing = self.get(former.tenant, former.id)
        if standing is None or standing.version != former.version:
            return False
        self._endpoints[former.tenant, former.id] = endpoint
        return True

    def remove(self, tenant: str, endpoint_id: str) -> bool:
        self._require()
        return self._endpoints.pop((tenant, endpoint_id), None) is not None

    def default_secrets(self, tenant: str) -> SealedSecrets | None:
        self._require()
        return self._defaults.get(tenant)

    def replace_default(
        self, tenant: str, former: SealedSecrets | None, secrets: SealedSecrets
    ) -> bool:
        if self.default_secrets(tenant) != former:
            return False
        self._defaults[tenant] = secrets
        return True


class FakeDeliveryLog(FakeDependency):
    """Implements DeliveryLog; a FakeJobStore checks the leases."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._lines: dict[tuple[str, str | None], dict[str, Delivery]] = {}

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        self._require()
        if not self._jobs.holds(lease):
            raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")
        partition = delivery.tenant, delivery.endpoint_id
        self._lines.setdefault(partition, {})[delivery.id] = delivery

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        return self._lines.get((tenant, endpoint_id), {}).get(delivery_id)

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> Page[Delivery]:
        lines = self._lines.get((tenant, endpoint_id), {})
        ids, last = _newest_first(lines, after, limit)
        return Page(items=tuple(lines[each] for each in ids), after=last)


class FakeCooldowns(FakeDependency):
    """Implements Cooldowns."""

    def __init__(self) -> None:
        self._cooldowns: dict[tuple[str, str], Cooldown] = {}

    def find(self, tenant: str, target: str) -> Cooldown | None:
        self._require()
        return self._cooldowns.get((tenant, target))

    def put(self, tenant: str, target: str, cooldown: Cooldown) -> None:
        self._require()
        self._cooldowns[tenant, target] = cooldown

    def take_permit(self, tenant: str, target: str, seen: Cooldown, until: datetime) -> bool:
        if self.find(tenant, target) != seen:
            return False
        self._cooldowns[tenant, target] = Cooldown(failures=seen.failures, until=until)
        return True

    def end(self, tenant: str, target: str) -> None:
        self._require()
        self._cooldowns.pop((tenant, target), None)


def stored_endpoint(**given: Any) -> Endpoint:
    """Return a stored endpoint with these fields."""
    values: dict[str, Any] = {
        "tenant": "acme",
        "id": "wh_1",
        "name": "ours",
        "url": URL,
        "events": frozenset({WebhookEvent.JOB_COMPLETED}),
        "secrets": SealedSecrets(newest=b"\x00sealed"),
        "created_at": START,
        "updated_at": START,
    }
    return Endpoint(**values | given)


def stored_delivery(**given: Any) -> Delivery:
    """Return a line of the delivery log with these fields."""
    values: dict[str, Any] = {
        "tenant": "acme",
        "id": "dlv_1",
        "endpoint_id": "wh_1",
        "url": URL,
        "event": WebhookEvent.JOB_COMPLETED,
        "job_id": "job_1",
        "job_type": "crawl",
        "payload": {"type": "job.completed", "data": {"job_id": "job_1", "result": {"n": 1.5}}},
        "delivery_job_id": "job_2",
        "max_attempts": 5,
        "created_at": START,
    }
    return Delivery(**values | given)


def _newest_first(
    of: Mapping[str, object], after: str | None, limit: int
) -> tuple[list[str], str | None]:
    ids = sorted((each for each in of if after is None or each < after), reverse=True)
    return ids[:limit], ids[limit - 1] if len(ids) > limit else None

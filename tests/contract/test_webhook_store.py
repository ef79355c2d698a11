"""Contract tests of webhook stores: the fake, moto, and DynamoDB Local."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.events.webhooks.dynamo import DynamoEndpointStore
from spinneret.events.webhooks.dynamo_deliveries import DynamoCooldowns, DynamoDeliveryLog
from spinneret.events.webhooks.models import (
    Cooldown,
    Delivery,
    DeliveryStatus,
    Endpoint,
    SealedSecrets,
    WebhookEvent,
)
from spinneret.events.webhooks.ports import Cooldowns, DeliveryLog, EndpointStore
from spinneret.jobs import rules
from spinneret.jobs.models import Job
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import Conflict, LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import SECOND, claimed
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START
from tests.fakes.webhooks import (
    FakeCooldowns,
    FakeDeliveryLog,
    FakeEndpointStore,
    stored_delivery,
    stored_endpoint,
)
from tests.sampling import sampled

pytestmark = OF_AWS

IDS = [f"wh_{number}" for number in range(5)]
ODD_IDS = ["", "wh_9", "COUNT", "wh_1#x", "ü", "x" * 1100]


@pytest.fixture
def endpoints(tables: Tables | None) -> EndpointStore:
    if tables is None:
        return FakeEndpointStore()
    return DynamoEndpointStore(tables.client, tables.names["Webhooks"])


@pytest.fixture
def log(store: JobStore, tables: Tables | None) -> DeliveryLog:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeDeliveryLog(store)
    return DynamoDeliveryLog(tables.client, tables.names["Webhooks"], tables.names["Jobs"])


@pytest.fixture
def cooldowns(tables: Tables | None) -> Cooldowns:
    if tables is None:
        return FakeCooldowns()
    return DynamoCooldowns(tables.client, tables.names["Webhooks"])


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    """Provide a running job."""
    return claimed(store, tenant)


def added(
    endpoints: EndpointStore, tenant: str, *ids: str, at_most: int = 20, **given: Any
) -> list[Endpoint]:
    made = [stored_endpoint(tenant=tenant, id=each, **given) for each in ids or ("wh_1",)]
    for endpoint in made:
        endpoints.add(endpoint, at_most)
    return made


def paged(page: Callable[[str | None], tuple[list[str], str | None]]) -> list[str]:
    """Return the ids of all pages."""
    found, after = page(None)
    while after is not None:
        assert after == found[-1]
        more, after = page(after)
        found += more
    return found


# ---------------------------------------------------------------- Endpoints


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"name": "Größe 🕸", "events": frozenset(WebhookEvent), "version": 7},
        {"is_active": False, "disabled_reason": "410 Gone", "updated_at": START + SECOND},
        {"header_names": ("X-Tag", "Authorization"), "sealed_headers": (b"\x00\xff", b"two")},
        {"secrets": SealedSecrets(newest=b"\xff", old=b"\x00", old_until=START + SECOND)},
    ],
    ids=["plain", "unicode", "disabled", "headers", "rotated"],
)
def test_an_endpoint_is_read_back_as_it_was_stored(
    endpoints: EndpointStore, tenant: str, given: dict[str, Any]
) -> None:
    [endpoint] = added(endpoints, tenant, **given)
    assert endpoints.get(tenant, endpoint.id) == endpoint
    assert endpoints.find(tenant, ["wh_9", endpoint.id]) == {endpoint.id: endpoint}
    assert endpoints.page(tenant, None, 1).items == (endpoint,)


@pytest.mark.parametrize("endpoint_id", ODD_IDS)
def test_an_unknown_id_finds_and_removes_nothing(
    endpoints: EndpointStore, tenant: str, endpoint_id: str
) -> None:
    added(endpoints, tenant)
    assert endpoints.get(tenant, endpoint_id) is None
    assert endpoints.find(tenant, [endpoint_id]) == {}
    assert not endpoints.remove(tenant, endpoint_id)


def test_nothing_is_found_for_no_ids(endpoints: EndpointStore, tenant: str) -> None:
    assert endpoints.find(tenant, []) == {}


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6])
def test_endpoints_are_listed_newest_first_page_by_page(
    endpoints: EndpointStore, tenant: str, limit: int
) -> None:
    added(endpoints, tenant, *IDS)

    def page(after: str | None) -> tuple[list[str], str | None]:
        found = endpoints.page(tenant, after, limit)
        assert len(found.items) <= limit
        return [each.id for each in found.items], found.after

    assert paged(page) == IDS[::-1]


def test_tenants_never_meet(endpoints: EndpointStore, tenant: str) -> None:
    one, other = f"{tenant}-1", f"{tenant}-2"
    added(endpoints, one, at_most=1)
    added(endpoints, other, "wh_2", at_most=1)
    assert endpoints.get(other, "wh_1") is None
    assert not endpoints.remove(other, "wh_1")
    assert [each.id for each in endpoints.page(other, None, 9).items] == ["wh_2"]


def test_a_tenant_has_so_many_endpoints_and_no_more(endpoints: EndpointStore, tenant: str) -> None:
    added(endpoints, tenant, "wh_1", "wh_2", at_most=2)
    for _ in range(2):
        with pytest.raises(Conflict):
            added(endpoints, tenant, "wh_3", at_most=2)
    assert endpoints.remove(tenant, "wh_1")
    assert not endpoints.remove(tenant, "wh_1")
    added(endpoints, tenant, "wh_3", at_most=2)
    with pytest.raises(Conflict):
        added(endpoints, tenant, "wh_4", at_most=2)


def test_an_id_that_is_taken_stays_with_its_endpoint(endpoints: EndpointStore, tenant: str) -> None:
    [first] = added(endpoints, tenant, "wh_1")
    with pytest.raises(Conflict):
        endpoints.add(replace(first, name="second"), 20)
    assert endpoints.get(tenant, "wh_1") == first


def test_an_endpoint_is_replaced_by_who_knows_its_version(
    endpoints: EndpointStore, tenant: str
) -> None:
    [first] = added(endpoints, tenant, disabled_reason="410 Gone")
    second = replace(first, name="second", disabled_reason=None, version=2)
    assert endpoints.replace(first, second)
    assert not endpoints.replace(first, replace(first, name="late", version=2))
    assert endpoints.get(tenant, first.id) == second


def test_an_endpoint_that_was_removed_does_not_come_back(
    endpoints: EndpointStore, tenant: str
) -> None:
    [first] = added(endpoints, tenant)
    endpoints.remove(tenant, first.id)
    assert not endpoints.replace(first, replace(first, version=2))
    assert endpoints.get(tenant, first.id) is None


def test_default_secrets_are_replaced_by_who_knows_them(
    endpoints: EndpointStore, tenant: str
) -> None:
    one, two = SealedSecrets(newest=b"1"), SealedSecrets(newest=b"2", old=b"1", old_until=START)
    assert endpoints.default_secrets(tenant) is None
    assert not endpoints.replace_default(tenant, two, one)
    assert endpoints.replace_default(tenant, None, one)
    assert not endpoints.replace_default(tenant, None, two)
    assert endpoints.default_secrets(tenant) == one
    assert endpoints.replace_default(tenant, one, two)
    assert not endpoints.replace_default(tenant, one, one)
    assert endpoints.default_secrets(tenant) == two
    assert endpoints.default_secrets(f"{tenant}-2") is None


# ---------------------------------------------------------------- Deliveries


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"endpoint_id": None},
        {"url": None, "status": DeliveryStatus.FAILED, "error": "gone"},
        {
            "status": DeliveryStatus.DELIVERED,
            "attempts": 5,
            "response_status": 204,
            "response_body": "",
            "delivered_at": START + SECOND,
        },
        {"attempts": 1, "response_body": "ü\x00🕷", "next_attempt_at": START + SECOND},
    ],
    ids=["plain", "of a url", "failed", "delivered", "waiting"],
)
def test_a_line_is_read_back_as_it_was_written(
    log: DeliveryLog, tenant: str, job: Job, given: dict[str, Any]
) -> None:
    line = stored_delivery(tenant=tenant, **given)
    log.write(line, factories.lease(job), START)
    assert log.get(tenant, line.endpoint_id, line.id) == line
    assert log.page(tenant, line.endpoint_id, None, 5).items == (line,)


def test_a_line_is_written_over_the_one_before(log: DeliveryLog, tenant: str, job: Job) -> None:
    before = stored_delivery(tenant=tenant, next_attempt_at=START, error="no")
    after = stored_delivery(tenant=tenant, status=DeliveryStatus.DELIVERED)
    for line in (before, after):
        log.write(line, factories.lease(job), START)
    assert log.page(tenant, "wh_1", None, 5).items == (after,)


def test_a_claim_that_is_over_writes_no_line(
    log: DeliveryLog, store: JobStore, tenant: str, job: Job
) -> None:
    store.transition(job, rules.hand_back(job, START), lease=factories.lease(job))
    with pytest.raises(LeaseLost):
        log.write(stored_delivery(tenant=tenant), factories.lease(job), START)
    assert log.get(tenant, "wh_1", "dlv_1") is None


@pytest.mark.parametrize("limit", sampled([2, 5, 1, 4, 6], quick=2))
def test_lines_are_listed_newest_first_page_by_page(
    log: DeliveryLog, tenant: str, job: Job, limit: int
) -> None:
    ids = [f"dlv_{number}" for number in range(5)]
    for endpoint_id in ("wh_1", "wh_2", None):
        for each in ids:
            line = stored_delivery(tenant=tenant, id=each, endpoint_id=endpoint_id)
            log.write(line, factories.lease(job), START)

    def page(after: str | None) -> tuple[list[str], str | None]:
        found = log.page(tenant, "wh_1", after, limit)
        assert {line.endpoint_id for line in found.items} <= {"wh_1"}
        return [line.id for line in found.items], found.after

    assert paged(page) == ids[::-1]


@pytest.mark.parametrize("delivery_id", ["", "dlv_9", "dlv_1#x", "ü", "x" * 1100])
def test_an_unknown_line_is_not_found(
    log: DeliveryLog, tenant: str, job: Job, delivery_id: str
) -> None:
    log.write(stored_delivery(tenant=tenant), factories.lease(job), START)
    assert log.get(tenant, "wh_1", delivery_id) is None
    assert log.get(tenant, "wh_2", "dlv_1") is None
    assert log.get(tenant, None, "dlv_1") is None


@pytest.mark.heavy
def test_a_page_of_the_longest_lines_is_whole(log: DeliveryLog, tenant: str, job: Job) -> None:
    """DynamoDB limits the response to a query to 1 MB."""
    written: list[Delivery] = []
    for number in range(100):
        line = stored_delivery(
            tenant=tenant,
            id=f"dlv_{number:03}",
            url="https://receiver.example/" + "x" * 2000,
            response_body="🕷" * 1000,
            error="x" * 1000,
        )
        log.write(line, factories.lease(job), START)
        written.append(line)
    assert log.page(tenant, "wh_1", None, 100).items == tuple(written[::-1])


# ---------------------------------------------------------------- Cooldowns


def until(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize("target", ["wh_1", "https://own.example/?" + "ü" * 2000])
def test_a_target_cools_down_until_that_is_ended(
    cooldowns: Cooldowns, tenant: str, target: str
) -> None:
    assert cooldowns.find(tenant, target) is None
    for cooldown in (
        Cooldown(failures=1, until=until(10)),
        Cooldown(failures=2, until=until(0.000001)),
    ):
        cooldowns.put(tenant, target, cooldown)
        assert cooldowns.find(tenant, target) == cooldown
    assert cooldowns.find(f"{tenant}-2", target) is None
    assert cooldowns.find(tenant, f"{target}2") is None
    for _ in range(2):
        cooldowns.end(tenant, target)
    assert cooldowns.find(tenant, target) is None


def test_one_of_all_that_saw_a_cooldown_gets_the_permit(cooldowns: Cooldowns, tenant: str) -> None:
    seen = Cooldown(failures=3, until=until(10))
    cooldowns.put(tenant, "wh_1", seen)
    assert cooldowns.take_permit(tenant, "wh_1", seen, until(35))
    assert not cooldowns.take_permit(tenant, "wh_1", seen, until(36))
    assert cooldowns.find(tenant, "wh_1") == Cooldown(failures=3, until=until(35))


def test_a_cooldown_that_has_ended_gives_no_permit(cooldowns: Cooldowns, tenant: str) -> None:
    seen = Cooldown(failures=3, until=until(10))
    cooldowns.put(tenant, "wh_1", seen)
    cooldowns.end(tenant, "wh_1")
    assert not cooldowns.take_permit(tenant, "wh_1", seen, until(35))
    assert cooldowns.find(tenant, "wh_1") is None

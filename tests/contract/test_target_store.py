"""Contract tests of target stores: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from spinneret.kernel import bounds
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups.models import HourTally, Rollup
from spinneret.monitoring.targets.dynamo import TARGETS_PER_READ
from spinneret.monitoring.targets.models import (
    CertificateState,
    IdempotencyRecord,
    LastCheck,
    Method,
    OpenIncident,
    Status,
)
from spinneret.monitoring.targets.ports import KeyTaken, TargetStore, TooMany, UrlTaken
from tests.contract.backends import OF_AWS, Tables
from tests.contract.watch_stores import later, stores_of, watched
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def store(tables: Tables | None) -> TargetStore:  # type: ignore[override]
    return stores_of(tables).targets


def record(tenant: str, scope: str = "scope", *, at: datetime = START) -> IdempotencyRecord:
    return IdempotencyRecord(
        tenant=tenant,
        scope=scope,
        payload="p",
        status=201,
        target_id="t_1",
        body='{"a": "ü"}',
        created_at=at,
    )


def test_a_target_is_read_as_it_was_written(store: TargetStore, tenant: str) -> None:
    made = watched(
        tenant,
        name="Shöp",
        method=Method.HEAD,
        degraded_ms=5,
        conditions=("status == 200",),
        certificate_days=(),
        public=True,
    )
    assert store.add(made, None) is None
    assert store.get(tenant, "t_1") == made
    assert store.get_many(tenant, ["t_9", "t_1"]) == [made]
    assert store.get(f"{tenant}x", "t_1") is None
    assert store.get(tenant, "no id!") is None


def test_a_state_is_read_as_it_was_written(store: TargetStore, tenant: str) -> None:
    made = watched(tenant)
    store.add(made, None)
    odd = datetime(2026, 3, 29, 1, 2, 3, 456789, tzinfo=UTC)
    state = later(
        made,
        due_at=odd,
        status=Status.DOWN,
        status_since=odd,
        failures=4,
        trouble_since=odd,
        last=LastCheck(
            at=odd,
            outcome=Outcome.DOWN,
            in_maintenance=True,
            interval_seconds=60,
            status_code=None,
            latency_ms=5000,
            error="the connection failed",
        ),
        incident=OpenIncident(id="inc_1", started_at=odd, entries=3),
        certificate=CertificateState(not_after=odd, warned_days=7),
        body_sha256="ab",
        skips=2,
        reservation="example.com",
        hour=HourTally(odd.replace(minute=0), Rollup(up_ms=1, latencies={3: 7, 57: 1})),
        checks_total=9,
    )
    assert store.change(made, made.target, state)
    found = store.get(tenant, "t_1")
    assert found is not None
    assert found.state == state


def test_a_canonical_url_has_one_target_of_a_tenant(store: TargetStore, tenant: str) -> None:
    assert store.add(watched(tenant, "t_1", path="same"), None) is None
    assert store.add(watched(tenant, "t_2", path="same"), None) == UrlTaken("t_1")
    assert store.get(tenant, "t_2") is None
    assert store.add(watched(f"{tenant}x", "t_2", path="same"), None) is None
    found = store.get(tenant, "t_1")
    assert found is not None
    assert store.remove(found)
    assert store.add(watched(tenant, "t_2", path="same"), None) is None


def test_a_key_keeps_its_first_answer_for_a_day(store: TargetStore, tenant: str) -> None:
    first = record(tenant)
    assert store.add(watched(tenant), first) is None
    assert store.answer_of(tenant, "scope", START) == first
    other = replace(first, payload="q", target_id="t_2")
    assert store.add(watched(tenant, "t_2"), other) == KeyTaken(first)
    assert store.add(watched(tenant, "t_3", path="t_1"), other) == KeyTaken(first)
    assert store.keep_answer(other) == first
    assert store.get(tenant, "t_2") is None
    day = START + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS)
    assert store.answer_of(tenant, "scope", day - timedelta(seconds=1)) == first
    assert store.answer_of(tenant, "scope", day) is None
    assert store.answer_of(f"{tenant}x", "scope", START) is None
    late = record(tenant, at=day)
    assert store.keep_answer(late) == late
    assert store.answer_of(tenant, "scope", day) == late


def test_lists_are_in_the_order_of_time_and_id(store: TargetStore, tenant: str) -> None:
    second = START + timedelta(microseconds=1)
    rows = [
        watched(tenant, "t_4"),
        watched(tenant, "t_7", host="b.example"),
        watched(tenant, "t_1", at=second),
        watched(tenant, "t_2", at=second, host="b.example"),
    ]
    for row in reversed(rows):
        store.add(row, None)
    store.add(watched(f"{tenant}x", "t_5"), None)
    seen, after = [], None
    for _ in range(4):
        page = store.page(tenant, None, after, 1)
        seen += page.items
        after = page.after
    assert (seen, after) == (rows, None)
    assert store.page(tenant, "b.example", None, 9).items == (rows[1], rows[3])
    first = store.page(tenant, "b.example", None, 1)
    assert store.page(tenant, "b.example", first.after, 9).items == (rows[3],)
    assert store.page(tenant, "c.example", None, 9).items == ()


def test_what_changed_meanwhile_is_neither_changed_nor_removed(
    store: TargetStore, tenant: str
) -> None:
    first = watched(tenant)
    store.add(first, None)
    target = replace(first.target, paused=True, version=2)
    state = later(first, due_at=None)
    assert store.change(first, target, state)
    assert not store.change(first, first.target, state)
    assert not store.remove(first)
    found = store.get(tenant, "t_1")
    assert found == replace(first, target=target, state=state)
    assert found is not None
    assert store.remove(found)
    assert not store.remove(found)
    assert not store.change(found, first.target, later(found))
    assert store.get(tenant, "t_1") is None
    assert store.page(tenant, None, None, 9).items == ()


def test_the_status_page_lists_what_is_public_now(store: TargetStore, tenant: str) -> None:
    shown, hidden = watched(tenant, "t_1", public=True), watched(tenant, "t_2")
    store.add(shown, None)
    store.add(hidden, None)
    assert store.public(tenant, 9) == ["t_1"]
    options = replace(shown.target.options, public=False)
    target = replace(shown.target, options=options, version=2)
    assert store.change(shown, target, later(shown))
    assert store.public(tenant, 9) == []
    options = replace(options, public=True)
    target = replace(hidden.target, options=options, version=2)
    assert store.change(hidden, target, later(hidden))
    assert store.public(tenant, 9) == ["t_2"]
    found = store.get(tenant, "t_2")
    assert found is not None
    assert store.remove(found)
    assert store.public(tenant, 9) == []


def test_a_tenant_has_so_many_targets_and_no_more(store: TargetStore, tenant: str) -> None:
    for number in range(3):
        assert store.add(watched(tenant, f"t_{number}"), None, 3) is None
    assert store.add(watched(tenant, "t_3"), record(tenant), 3) == TooMany()
    assert store.get(tenant, "t_3") is None
    assert store.answer_of(tenant, "scope", START) is None
    assert store.add(watched(tenant, "t_3", path="t_1"), None, 3) == UrlTaken("t_1")
    assert store.add(watched(f"{tenant}x", "t_3"), None, 3) is None
    found = store.get(tenant, "t_0")
    assert found is not None
    assert store.remove(found)
    assert not store.remove(found)
    assert store.add(watched(tenant, "t_3"), None, 3) is None
    assert store.add(watched(tenant, "t_4"), None, 3) == TooMany()


def test_all_targets_are_read_in_their_order(store: TargetStore, tenant: str) -> None:
    rows = [watched(tenant, f"t_{number:03}") for number in range(TARGETS_PER_READ + 3)]
    for row in rows:
        store.add(row, None)
    listed = store.page(tenant, None, None, 100).items
    assert len(listed) == len(rows)
    assert store.all(tenant, 1000) == list(listed)
    assert store.all(tenant, TARGETS_PER_READ + 1) == list(listed[: TARGETS_PER_READ + 1])
    assert store.all(f"{tenant}x", 1000) == []


# covers M-06
def test_a_heartbeat_is_found_by_its_last_token_until_it_is_removed(
    store: TargetStore, tenant: str
) -> None:
    former = watched(tenant)
    store.add(former, None)
    for token in ("one", "two"):
        call_hash = f"{tenant}-{token}"
        target = replace(former.target, call_hash=call_hash, version=former.target.version + 1)
        assert store.change(former, target, later(former))
        former = store.called(call_hash) or former
        assert former.target == target
    assert store.called(f"{tenant}-one") is None
    assert store.remove(former)
    assert store.called(f"{tenant}-two") is None

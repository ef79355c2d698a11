"""Parts of a deletion that concern products (T-07)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.jobs.ports import Claimed, NewJob
from spinneret.kernel.errors import DependencyUnavailable, DomainError, MarketplaceUnavailable
from spinneret.operations.tenants.places import Connections, IndexPlace, LeasedJobs
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START
from tests.markets.stores import in_memory
from tests.markets.world import MarketWorld


@pytest.fixture
def world() -> MarketWorld:
    """Provide a seller who is connected to eBay."""
    made = MarketWorld(in_memory())
    made.connect("ebay")
    return made


def test_a_deletion_revokes_every_connection(world: MarketWorld) -> None:
    connections = Connections(connections=world.connecting)
    assert connections.revoke_all(world.tenant) == {"ebay": "revoked"}
    assert world.ebay.revoked
    assert world.connections.get(world.tenant, "ebay") is None
    assert connections.revoke_all(world.tenant) == {}


class Unreachable:
    """A token endpoint whose calls fail."""

    def __init__(self, error: DomainError) -> None:
        self._error = error

    def revoke(self, *_: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MarketplaceUnavailable("away"), "not revoked: no answer"),
        (DomainError("odd"), "not revoked: INTERNAL_ERROR"),
    ],
)
def test_an_authorization_that_cannot_be_revoked_stops_no_deletion(
    error: DomainError, outcome: str, world: MarketWorld
) -> None:
    endpoint = Unreachable(error)
    service = replace(world.connecting, endpoint=endpoint)  # type: ignore[arg-type]  # one method
    assert Connections(connections=service).revoke_all(world.tenant) == {"ebay": outcome}


def test_an_outage_of_our_own_stops_the_deletion(world: MarketWorld) -> None:
    endpoint = Unreachable(DependencyUnavailable("kms"))
    service = replace(world.connecting, endpoint=endpoint)  # type: ignore[arg-type]  # one method
    with pytest.raises(DependencyUnavailable):
        Connections(connections=service).revoke_all(world.tenant)


def test_work_is_busy_until_the_last_lease_ends() -> None:
    store = FakeJobStore()
    ends = [START + timedelta(seconds=seconds) for seconds in (60, 90)]
    for number, end in enumerate(ends):
        job = factories.job(id=f"job_{number}", duplicate_key=None)
        store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
        assert isinstance(store.claim(job.ref, "one", job.due_at, end), Claimed)
    work, tenant = LeasedJobs(jobs=store), factories.job().tenant
    assert work.busy_until(tenant, START) == ends[1]
    assert work.busy_until(tenant, ends[0]) == ends[1]
    assert work.busy_until(tenant, ends[1]) is None
    assert work.busy_until("other", START) is None


def test_an_index_is_left_when_a_step_deletes_no_chunk() -> None:
    counts = iter([1000, 3, 0])
    place = IndexPlace(remove=lambda *_: next(counts))
    steps = [place.erase("acme", None, lambda: 60.0) for _ in range(3)]
    assert [(each.removed, each.after) for each in steps] == [(1000, True), (3, True), (0, None)]

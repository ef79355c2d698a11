"""A deletion finishes after a crash at any step, and leaves other tenants alone (T-07)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.access import limits as access_limits
from spinneret.access.keys.models import Scope
from spinneret.access.tenants.service import TenantService
from spinneret.kernel.errors import DependencyUnavailable, NotFound, TenantSuspended
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.deleting import TenantDeletion
from spinneret.operations.tenants.models import Answer, CommandProgress, Deletion, Erased
from tests.fakes.crashes import Crash, CrashPlan
from tests.fakes.keys import FakeKeyStore
from tests.fakes.tenants import FakeHolds, FakeTenantStore
from tests.unit.access.people.team import Team, make_team

PAGE = 2


@dataclass
class FakePlace:
    """Implements Place with names of owners, two per page."""

    name: str
    owners: list[str]
    unknown: tuple[str, ...] = ()

    def erase(self, tenant: str, after: Any, remaining: Any) -> Erased:
        start = after or 0
        page = self.owners[start : start + PAGE]
        kept = [owner for owner in page if owner != tenant]
        self.owners[start : start + PAGE] = kept
        end = start + len(kept)
        unknown = self.unknown if start == 0 else ()
        following = end if end < len(self.owners) else None
        return Erased(removed=len(page) - len(kept), unknown=unknown, after=following)


@dataclass
class Credentials(FakePlace):
    """The place of the keys, which also stores a tenant's suspension."""

    store: FakeKeyStore = field(default_factory=FakeKeyStore)

    def erase(self, tenant: str, after: Any, remaining: Any) -> Erased:
        self.store.suspended.pop(tenant, None)
        own = [digest for digest, key in self.store.keys.items() if key.tenant == tenant]
        for digest in own:
            del self.store.keys[digest]
        return Erased(removed=len(own))


@dataclass
class FakeStates:
    """Implements DeletionStore."""

    states: dict[str, Deletion] = field(default_factory=dict)

    def get(self, tenant: str) -> Deletion | None:
        return self.states.get(tenant)

    def put(self, tenant: str, deletion: Deletion) -> None:
        self.states[tenant] = deletion

    def forget(self, tenant: str) -> None:
        self.states.pop(tenant, None)


@dataclass
class FakeWork:
    """Implements RunningWork."""

    until: datetime | None = None

    def busy_until(self, _tenant: str, now: datetime) -> datetime | None:
        return self.until if self.until is not None and self.until > now else None


@dataclass
class FakeSellers:
    """Implements SellerAuthorizations."""

    connected: set[str] = field(default_factory=lambda: {"ebay"})

    def revoke_all(self, _tenant: str) -> Mapping[str, str]:
        revoked = dict.fromkeys(self.connected, "revoked")
        self.connected.clear()
        return revoked


class World:
    """Two tenants with data in three places."""

    def __init__(self) -> None:
        self.team: Team = make_team()
        keys = self.team.keys.keys
        assert isinstance(keys, FakeKeyStore)
        self.secrets = {
            name: self.team.keys.issue(name, "one", frozenset({Scope.ADMIN}))[1]
            for name in ("acme", "other")
        }
        self.store = FakeTenantStore(keys, self.team.user_store)
        self.holds, self.states = FakeHolds(), FakeStates()
        self.work, self.sellers = FakeWork(), FakeSellers()
        self.places = [
            FakePlace("index", ["acme"] * 5 + ["other"]),
            FakePlace("bucket", []),
            FakePlace("table", ["other", "acme", "acme", "other", "acme"]),
            Credentials("credentials", [], store=keys),
        ]

    def tenants(self, plan: CrashPlan | None = None) -> TenantService:
        plan = plan or CrashPlan()
        return TenantService(
            tenants=plan.wrap("tenants", self.store),
            holds=plan.wrap("holds", self.holds),
            clock=self.team.clock,
        )

    def deletion(self, plan: CrashPlan | None = None) -> TenantDeletion:
        plan = plan or CrashPlan()
        return TenantDeletion(
            tenants=self.tenants(plan),
            states=plan.wrap("states", self.states),
            work=plan.wrap("work", self.work),
            sellers=plan.wrap("sellers", self.sellers),
            places=[_Named(each.name, plan.wrap(each.name, each)) for each in self.places],
            clock=self.team.clock,
        )

    def run(self, plan: CrashPlan | None = None, seconds: float = 60.0) -> Answer:
        """Run the command once."""
        return self.deletion(plan).run("acme", lambda: seconds)

    def stop(self) -> None:
        """Start the deletion, then let the caches of all processes expire."""
        assert self.run().progress is CommandProgress.WAITING
        self.team.clock.advance(access_limits.SESSION_CACHE_SECONDS + limits.REQUEST_SECONDS)

    @property
    def left(self) -> list[str]:
        return [owner for place in self.places for owner in place.owners]


class _Named:
    """A place with watched calls; reading its name isn't a call."""

    def __init__(self, name: str, place: Any) -> None:
        self.name = name
        self.erase = place.erase


@pytest.fixture
def world() -> World:
    return World()


def test_a_deletion_reports_all_that_it_removed_and_nothing_of_others(world: World) -> None:
    world.stop()
    answer = world.run()
    assert answer.progress is CommandProgress.DONE
    assert answer.report == {
        "removed": {"index": 5, "table": 3, "credentials": 1},
        "connections": {"ebay": "revoked"},
    }
    assert world.left == ["other"] * 3
    assert (world.store.tenants, world.holds.held, world.states.states) == ({}, {}, {})
    assert world.team.keys.authenticate(world.secrets["other"]).tenant == "other"


# covers T-07
def test_a_deletion_that_is_killed_at_any_call_is_finished_by_the_next_one() -> None:
    begun = World()
    begun.stop()
    whole = CrashPlan()
    begun.run(whole)
    assert len(whole.calls) > 20
    for at, moment in whole.points():
        world = World()
        world.stop()
        plan = CrashPlan(at, moment)
        with pytest.raises(Crash):
            world.run(plan)
        try:
            assert world.run().progress is CommandProgress.DONE, (at, moment)
        except NotFound:
            assert whole.calls[at - 1] == "tenants.forget"  # the process died at the last call
        assert world.left == ["other"] * 3, (at, moment)
        assert world.sellers.connected == set()
        assert (world.store.tenants, world.holds.held, world.states.states) == ({}, {}, {})


def test_a_stop_that_is_killed_at_any_call_is_finished_by_the_next_one() -> None:
    whole = CrashPlan()
    World().run(whole)
    for at, moment in whole.points():
        world = World()
        with pytest.raises(Crash):
            world.run(CrashPlan(at, moment))
        world.stop()
        with pytest.raises(TenantSuspended):
            world.team.keys.authenticate(world.secrets["acme"])
        assert world.run().progress is CommandProgress.DONE


def test_nothing_is_deleted_while_a_request_or_job_may_run(world: World) -> None:
    assert world.run().progress is CommandProgress.WAITING
    world.team.clock.advance(access_limits.SESSION_CACHE_SECONDS)
    assert world.run().progress is CommandProgress.WAITING
    world.team.clock.advance(limits.REQUEST_SECONDS)
    world.work.until = world.team.clock() + timedelta(minutes=15)
    assert world.run().progress is CommandProgress.WAITING
    assert world.left.count("acme") == 8
    assert world.sellers.connected == {"ebay"}
    world.team.clock.advance(15 * 60)
    assert world.run().progress is CommandProgress.DONE


def test_a_long_suspended_tenant_is_deleted_at_once(world: World) -> None:
    world.tenants().suspend("acme", "unpaid")
    world.team.clock.advance(3600)
    assert world.run().progress is CommandProgress.DONE


def test_a_call_without_time_does_what_it_can_and_the_next_continues(world: World) -> None:
    world.stop()
    seconds = iter([60.0, 60.0, 0.0])
    answer = world.deletion().run("acme", lambda: next(seconds))
    assert answer.progress is CommandProgress.WORKING
    assert answer.text == "pass 1: index, 4 removed so far"
    assert world.run().progress is CommandProgress.DONE


def test_work_that_appears_meanwhile_is_deleted_by_a_further_pass(world: World) -> None:
    world.stop()
    late, place = ["acme"], world.places[0]

    class Late(FakePlace):
        """A place whose first call lets another process write to an earlier place."""

        def erase(self, tenant: str, after: Any, remaining: Any) -> Erased:
            while late:
                place.owners.append(late.pop())
            return super().erase(tenant, after, remaining)

    world.places[2] = Late("table", world.places[2].owners)
    answer = world.run()
    assert answer.text == "acme is deleted; pass 3 found nothing of it"
    assert world.left == ["other"] * 3


def test_a_key_of_unknown_form_ends_no_deletion_and_is_named(world: World) -> None:
    world.stop()
    world.places[2].unknown = ("table: NEW#acme",)
    answer = world.run()
    assert answer.progress is CommandProgress.REFUSED
    assert answer.report["unknown"] == ("table: NEW#acme",)
    assert "acme" in world.store.tenants
    world.places[2].unknown = ()
    assert world.run().progress is CommandProgress.DONE


def test_an_outage_keeps_what_was_done(world: World) -> None:
    world.stop()
    erase = world.places[2].erase
    world.places[2].erase = _refuse  # type: ignore[method-assign]  # the place is down
    with pytest.raises(DependencyUnavailable):
        world.run()
    world.places[2].erase = erase  # type: ignore[method-assign]  # as above
    assert world.run().report["removed"] == {"index": 5, "table": 3, "credentials": 1}


def _refuse(*_: Any) -> Erased:
    raise DependencyUnavailable("dynamodb")


def test_a_tenant_that_nobody_knows_is_not_deleted(world: World) -> None:
    with pytest.raises(NotFound):
        world.deletion().run("nobody", lambda: 60.0)
    world.stop()
    assert world.run().progress is CommandProgress.DONE
    with pytest.raises(NotFound):
        world.run()

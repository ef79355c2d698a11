"""Suspended tenants: every credential is refused with the reason, and accepted later (T-07)."""

from collections.abc import Callable

import pytest

from spinneret.access import limits
from spinneret.access.keys.models import Principal, Scope
from spinneret.access.permissions import Permission
from spinneret.access.tenants.models import TenantState
from spinneret.access.tenants.service import TenantService
from spinneret.kernel.errors import Conflict, NotFound, TenantSuspended, ValidationFailed
from tests.fakes.keys import FakeKeyStore
from tests.fakes.tenants import FakeHolds, FakeTenantStore
from tests.unit.access.people.team import HERE, PASSWORD, Team


@pytest.fixture
def holds() -> FakeHolds:
    return FakeHolds()


@pytest.fixture
def tenants(team: Team, holds: FakeHolds) -> TenantService:
    keys = team.keys.keys
    assert isinstance(keys, FakeKeyStore)
    store = FakeTenantStore(keys, team.user_store)
    return TenantService(tenants=store, holds=holds, clock=team.clock)


def attempts(team: Team) -> dict[str, Callable[[], object]]:
    """Return every way to use a credential of acme; each way has its own credential."""
    _, secret = team.keys.issue("acme", "one", frozenset({Scope.ADMIN}))
    user = team.person()
    tokens, others = team.sign_in(), team.sign_in()
    by_key = team.keys.authenticate(secret)
    by_user = team.keys.authenticate(tokens.access_token)
    tickets = [team.keys.issue_ticket(each, "job_1").secret for each in (by_key, by_user)]
    _, invitation = team.invite("new@example.com", user.role)
    return {
        "key": lambda: team.keys.authenticate(secret),
        "access token": lambda: team.keys.authenticate(tokens.access_token),
        "ticket of a key": lambda: team.keys.redeem(tickets[0]),
        "ticket of a user": lambda: team.keys.redeem(tickets[1]),
        "refresh token": lambda: team.sessions.refresh(others.refresh_token),
        "password": lambda: team.entrance.sign_in("acme", user.email, PASSWORD, HERE),
        "invitation": lambda: team.passwords.accept(invitation, PASSWORD + "!"),
        "new key": lambda: team.keys.issue("acme", "two", frozenset({Scope.READ})),
        "new user": lambda: team.invite("b@example.com", user.role),
    }


# covers T-07
def test_every_credential_of_a_suspended_tenant_is_refused_with_the_reason(
    team: Team, tenants: TenantService
) -> None:
    tried = attempts(team)
    tenants.suspend("acme", "unpaid")
    team.clock.advance(limits.SESSION_CACHE_SECONDS)
    for name, attempt in tried.items():
        with pytest.raises(TenantSuspended, match="the tenant is suspended: unpaid") as refused:
            attempt()
        assert (refused.value.status, refused.value.code) == (403, "TENANT_SUSPENDED"), name
    tenants.resume("acme")
    team.clock.advance(limits.SESSION_CACHE_SECONDS)
    for attempt in tried.values():
        attempt()


def test_connections_of_a_suspended_tenant_are_no_longer_active(
    team: Team, tenants: TenantService
) -> None:
    key, _ = team.keys.issue("acme", "one", frozenset({Scope.ADMIN}))
    user = team.person()
    tenants.suspend("acme", "unpaid")
    for holder in (key.id, user.id):
        assert not team.keys.is_active("acme", holder)
        assert not team.keys.allows("acme", holder, Scope.READ, Permission.VIEW_JOBS)
    tenants.resume("acme")
    assert team.keys.is_active("acme", key.id)
    assert team.keys.is_active("acme", user.id)


def test_another_tenant_goes_on(team: Team, tenants: TenantService, holds: FakeHolds) -> None:
    _, secret = team.keys.issue("other", "one", frozenset({Scope.ADMIN}))
    team.keys.issue("acme", "one", frozenset({Scope.ADMIN}))
    tenants.suspend("acme", "unpaid")
    assert isinstance(team.keys.authenticate(secret), Principal)
    assert holds.held == {"acme": team.clock()}


def test_a_suspension_costs_a_request_no_further_call(team: Team, tenants: TenantService) -> None:
    team.person()
    token = team.sign_in().access_token
    team.keys.authenticate(token)
    tenants.suspend("acme", "unpaid")
    team.clock.advance(limits.SESSION_CACHE_SECONDS)
    reads = team.user_store.reads
    for _ in range(3):
        with pytest.raises(TenantSuspended):
            team.keys.authenticate(token)
    assert team.user_store.reads == reads + 1


def test_a_suspension_holds_work_since_its_beginning(
    team: Team, tenants: TenantService, holds: FakeHolds
) -> None:
    tenants.create("acme")
    began = team.clock()
    assert tenants.suspend("acme", "unpaid").state is TenantState.SUSPENDED
    team.clock.advance(60)
    tenants.suspend("acme", "unpaid")  # repeated after a failure
    assert holds.held == {"acme": began}
    assert tenants.resume("acme").state is TenantState.ACTIVE
    assert holds.held == {}


def test_a_deletion_has_no_return(team: Team, tenants: TenantService) -> None:
    _, secret = team.keys.issue("acme", "one", frozenset({Scope.ADMIN}))
    first = tenants.begin_deletion("acme")
    team.clock.advance(60)
    assert tenants.begin_deletion("acme") == first
    with pytest.raises(TenantSuspended, match="it is being deleted"):
        team.keys.authenticate(secret)
    for change in (tenants.resume, lambda name: tenants.suspend(name, "unpaid"), tenants.create):
        with pytest.raises(Conflict):
            change("acme")


def test_only_known_tenants_are_managed(team: Team, tenants: TenantService) -> None:
    for change in (tenants.resume, lambda name: tenants.suspend(name, "unpaid")):
        with pytest.raises(NotFound):
            change("acme")
    for name in ("Acme", "a#b", ""):
        with pytest.raises(ValidationFailed):
            tenants.create(name)
    tenants.create("acme")
    with pytest.raises(Conflict):
        tenants.create("acme")
    for reason in ("", "x" * (limits.SUSPENSION_REASON_MAX_CHARS + 1)):
        with pytest.raises(ValidationFailed):
            tenants.suspend("acme", reason)

"""Contract tests of stores of users and sessions: the fake, moto, and DynamoDB Local."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.access.permissions import Role
from spinneret.access.sessions.dynamo import DynamoFailureStore, DynamoSessionStore
from spinneret.access.sessions.models import Failures, Session
from spinneret.access.sessions.ports import FailureStore, SessionStore
from spinneret.access.tokens.dynamo import DynamoKeySetStore
from spinneret.access.tokens.models import KeySet, SigningKey
from spinneret.access.tokens.ports import KeySetStore
from spinneret.access.trail.dynamo import DynamoTrail, recorded
from spinneret.access.trail.ports import Trail
from spinneret.access.trail.rules import account_event
from spinneret.access.users.dynamo import DynamoUserStore
from spinneret.access.users.models import User
from spinneret.access.users.ports import UserStore
from spinneret.kernel.errors import Conflict
from spinneret.outbox.models import DomainEvent
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.people import (
    FakeFailureStore,
    FakeKeySetStore,
    FakeSessionStore,
    FakeTrail,
    FakeUserStore,
)
from tests.fakes.time import START

pytestmark = OF_AWS

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Stores:
    """Stores of users, sessions, failed sign-ins, key sets and events, on one backend."""

    users: UserStore
    sessions: SessionStore
    failures: FailureStore
    key_sets: KeySetStore
    trail: Trail


@pytest.fixture
def stores(tables: Tables | None) -> Stores:
    if tables is None:
        trail = FakeTrail()
        people = FakeUserStore(trail), FakeSessionStore(trail)
        return Stores(*people, FakeFailureStore(), FakeKeySetStore(), trail)
    of = (tables.client, tables.names["Tenancy"])
    writes = recorded(tables.names["Tenancy"], tables.names["Events"])
    return Stores(
        DynamoUserStore(*of, writes),
        DynamoSessionStore(*of, writes),
        DynamoFailureStore(*of),
        DynamoKeySetStore(*of),
        DynamoTrail(*of, tables.names["Events"]),
    )


def changed_to(stores: Stores, user: User) -> bool:
    """Change a user, with an event that has the former role; return the store's answer."""

    def events(former: User) -> list[DomainEvent]:
        return [account_event(user, "user.changed", START, former=str(former.role))]

    return stores.users.change(user, events)


def set_password(stores: Stores, user: User, password_hash: str) -> bool:
    """Set a user's password; return the store's answer."""
    return stores.users.set_password(user, password_hash, an_event(user, f"user.{password_hash}"))


def remove(stores: Stores, user: User) -> bool:
    """Delete a user; return the store's answer."""
    return stores.users.remove(user, an_event(user, "user.removed"))


def an_event(user: User, event_type: str = "user.x", seconds: int = 0) -> DomainEvent:
    """Return an event of a user's account."""
    return account_event(user, event_type, START + seconds * SECOND, address="203.0.113.7")


def a_user(tenant: str, **given: Any) -> User:
    values: dict[str, Any] = {
        "id": f"u_{uuid4().hex}",
        "email": f"{uuid4().hex}@example.com",
        "name": "Maya",
        "role": Role.VIEWER,
        "created_at": START,
    }
    return User(tenant=tenant, **{**values, **given})


def a_session(tenant: str, **given: Any) -> Session:
    values: dict[str, Any] = {
        "id": f"s_{uuid4().hex}",
        "user_id": "u_1",
        "epoch": 0,
        "token_hash": "0" * 64,
        "created_at": START,
        "expires_at": START + timedelta(days=7),
    }
    return Session(tenant=tenant, **{**values, **given})


# ---------------------------------------------------------------- Users


def test_a_user_is_found_by_id_and_address_in_the_tenant_only(stores: Stores, tenant: str) -> None:
    user = a_user(
        tenant,
        password_hash="a hash",
        invitation_hash="1" * 64,
        invited_until=START + SECOND,
        last_login_at=START,
        epoch=3,
        is_active=False,
    )
    stores.users.add(user, 10)
    assert stores.users.get(tenant, user.id) == user
    assert stores.users.find(tenant, user.email) == user
    for other in (f"{tenant}-x", "x"):
        assert stores.users.get(other, user.id) is None
        assert stores.users.find(other, user.email) is None
    assert stores.users.get(tenant, "u#1") is None


def test_a_taken_address_and_one_user_too_many_are_refused(stores: Stores, tenant: str) -> None:
    users = [a_user(tenant) for _ in range(3)]
    stores.users.add(users[0], 2)
    with pytest.raises(Conflict):
        stores.users.add(a_user(tenant, email=users[0].email), 2)
    stores.users.add(users[1], 2)
    with pytest.raises(Conflict):
        stores.users.add(users[2], 2)
    assert remove(stores, users[0])
    stores.users.add(a_user(tenant, email=users[0].email), 2)


def test_users_are_listed_page_by_page(stores: Stores, tenant: str) -> None:
    ids = [f"u_{number}" for number in range(5)]
    for each in ids:
        stores.users.add(a_user(tenant, id=each), 10)
    first = stores.users.page(tenant, None, 3)
    second = stores.users.page(tenant, first.after, 3)
    assert [user.id for user in (*first.items, *second.items)] == ids
    assert second.after is None


def test_a_change_ends_sessions_if_role_or_activity_differs(stores: Stores, tenant: str) -> None:
    user = a_user(tenant)
    stores.users.add(user, 10)
    for changes, epoch in (
        ({"name": "Other"}, 0),
        ({"name": "Other", "role": Role.SELLER}, 1),
        ({"name": "Other", "role": Role.SELLER, "is_active": False}, 2),
    ):
        user = replace(user, **changes)  # type: ignore[arg-type]  # fields by name
        assert changed_to(stores, user)
        user = replace(user, epoch=epoch)
        assert stores.users.get(tenant, user.id) == user
    assert not changed_to(stores, a_user(tenant))
    assert not remove(stores, a_user(tenant))


@pytest.mark.parametrize("change", ["delete", "demote", "deactivate"])
def test_the_last_active_administrator_is_kept(stores: Stores, tenant: str, change: str) -> None:
    admin, second = (a_user(tenant, role=Role.ADMIN, password_hash="one") for _ in range(2))
    lesser: dict[str, Callable[[User], object]] = {
        "delete": lambda user: remove(stores, user),
        "demote": lambda user: changed_to(stores, replace(user, role=Role.SELLER)),
        "deactivate": lambda user: changed_to(stores, replace(user, is_active=False)),
    }
    stores.users.add(admin, 10)
    invited = a_user(tenant, role=Role.ADMIN, invitation_hash="1" * 64)
    for other in (replace(second, is_active=False, id="u_0", email="off@example.com"), invited):
        stores.users.add(other, 10)
        with pytest.raises(Conflict):
            lesser[change](admin)
    stores.users.add(second, 10)
    assert lesser[change](admin)
    with pytest.raises(Conflict):
        lesser[change](second)
    assert set_password(stores, invited, "two")
    assert lesser[change](second)
    with pytest.raises(Conflict):
        lesser[change](invited)


def test_a_tenant_without_administrators_changes_its_people(stores: Stores, tenant: str) -> None:
    user = a_user(tenant)
    stores.users.add(user, 10)
    assert changed_to(stores, replace(user, role=Role.SELLER))
    assert remove(stores, user)


def test_a_password_replaces_the_one_that_was_read(stores: Stores, tenant: str) -> None:
    user = a_user(tenant, invitation_hash="1" * 64, invited_until=START)
    stores.users.add(user, 10)
    assert set_password(stores, user, "one")
    assert not set_password(stores, user, "two")
    first = replace(user, password_hash="one", invitation_hash=None, invited_until=None, epoch=1)
    assert stores.users.get(tenant, user.id) == first
    assert set_password(stores, first, "three")
    assert not set_password(stores, a_user(tenant), "four")


def test_a_sign_in_is_noted_and_renews_only_the_hash_that_it_checked(
    stores: Stores, tenant: str
) -> None:
    user = a_user(tenant, password_hash="one")
    stores.users.add(user, 10)
    stores.users.signed_in(user, START, "two")
    stores.users.signed_in(user, START + SECOND, "three")
    known = replace(user, password_hash="two", last_login_at=START + SECOND)
    assert stores.users.get(tenant, user.id) == known
    stores.users.end_sessions(tenant, user.id)
    assert stores.users.get(tenant, user.id) == replace(known, epoch=1)
    unknown = a_user(tenant)
    stores.users.signed_in(unknown, START, None)
    stores.users.end_sessions(tenant, unknown.id)
    assert stores.users.get(tenant, unknown.id) is None


# ---------------------------------------------------------------- Sessions


def test_a_rotation_takes_the_token_in_force_only(stores: Stores, tenant: str) -> None:
    session = a_session(tenant)
    stores.sessions.add(session, an_event(a_user(tenant), "user.began"))
    assert stores.sessions.get(tenant, "u_1", session.id) == session
    rotated = stores.sessions.rotate(session, "1" * 64, START)
    expected = replace(session, token_hash="1" * 64, former_hash="0" * 64, rotated_at=START)
    assert rotated == expected
    assert stores.sessions.rotate(session, "2" * 64, START + SECOND) == expected
    assert stores.sessions.get(tenant, "u_1", session.id) == expected
    stores.sessions.remove(expected, an_event(a_user(tenant), "user.ended"))
    stores.sessions.remove(expected, an_event(a_user(tenant), "user.ended"))
    assert stores.sessions.get(tenant, "u_1", session.id) is None
    assert stores.sessions.rotate(expected, "3" * 64, START) is None
    assert stores.sessions.get(tenant, "u_1", session.id) is None


def test_failures_are_counted_by_address_and_by_hour(stores: Stores, tenant: str) -> None:
    def at(address: str, hours: int = 0) -> Failures:
        return stores.failures.get(
            tenant, "maya@example.com", address, START + hours * 3600 * SECOND
        )

    assert at("here") == Failures()
    for moment in (START, START + SECOND):
        counted = stores.failures.add(tenant, "maya@example.com", "here", moment)
    assert counted == at("here") == Failures(here=2, last_at=START + SECOND, everywhere=2)
    stores.failures.add(tenant, "maya@example.com", "there", START)
    assert at("here") == Failures(here=2, last_at=START + SECOND, everywhere=3)
    assert at("there", hours=1) == Failures(here=1, last_at=START, everywhere=0)
    stores.failures.clear(tenant, "maya@example.com", "here")
    assert at("here") == Failures(everywhere=3)
    assert stores.failures.get(tenant, "noah@example.com", "here", START) == Failures()
    assert at("there", hours=2) == Failures()
    again = stores.failures.add(tenant, "maya@example.com", "there", START + 7200 * SECOND)
    assert again == at("there", hours=2) == Failures(here=1, last_at=again.last_at, everywhere=1)


# ---------------------------------------------------------------- Trail


def types(stores: Stores, tenant: str) -> list[str]:
    """Return the types of the tenant's events, newest first; by name if their times are equal."""
    return [event.type for event in stores.trail.page(tenant, None, 100).items]


def test_events_are_listed_newest_first_page_by_page(stores: Stores, tenant: str) -> None:
    user = a_user(tenant, id="u_1")
    events = [an_event(user, seconds=number) for number in range(5)]
    for each in (*events, an_event(a_user(f"{tenant}-x"))):
        stores.trail.record(each, known=True)
    first = stores.trail.page(tenant, None, 3)
    second = stores.trail.page(tenant, first.after, 3)
    assert [*first.items, *second.items] == events[::-1]
    assert second.after is None


def test_an_unknown_account_leaves_no_event(stores: Stores, tenant: str) -> None:
    stores.trail.record(an_event(a_user(tenant)), known=False)
    assert types(stores, tenant) == []


def test_an_event_is_stored_exactly_if_its_change_is(stores: Stores, tenant: str) -> None:
    user, session = a_user(tenant, id="u_1"), a_session(tenant)
    stores.users.add(user, 10)
    assert changed_to(stores, replace(user, role=Role.SELLER))
    assert set_password(stores, user, "one")
    assert not set_password(stores, user, "two")
    stores.sessions.add(session, an_event(user, "user.began"))
    for event_type in ("user.ended", "user.ended_again"):
        stores.sessions.remove(session, an_event(user, event_type))
    assert remove(stores, user)
    assert not remove(stores, user)
    assert not changed_to(stores, user)
    expected = ["changed", "one", "began", "ended", "removed"]
    assert types(stores, tenant) == sorted((f"user.{each}" for each in expected), reverse=True)
    [changed] = [each for each in stores.trail.page(tenant, None, 9).items if "former" in each.data]
    assert changed.data == {"user_id": "u_1", "former": "viewer"}


# ---------------------------------------------------------------- Signing keys


def test_a_set_of_keys_replaces_the_one_that_was_read(stores: Stores) -> None:
    former = stores.key_sets.read()
    key = SigningKey(kid=uuid4().hex, key_id="kms", public_key="PEM", active_from=START)
    wanted = KeySet(version=former.version + 1, keys=(*former.keys, key))
    assert stores.key_sets.replace(former, wanted)
    assert stores.key_sets.read() == wanted
    other = KeySet(version=former.version + 1, keys=())
    assert not stores.key_sets.replace(former, other)
    assert stores.key_sets.replace(wanted, KeySet(version=wanted.version + 1, keys=former.keys))

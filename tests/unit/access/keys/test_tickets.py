"""Tickets: valid for one job, for 15 minutes, and no longer than their key."""

import hashlib
from datetime import timedelta

import pytest

from spinneret.access.keys.models import Principal, Scope
from spinneret.access.keys.service import KeyService
from spinneret.kernel.errors import AuthRequired, DependencyUnavailable
from tests.fakes.keys import FakeKeyStore
from tests.fakes.time import HandClock

REFUSED = r"^a valid API key or access token is required$"


@pytest.fixture
def holder(keys: KeyService) -> Principal:
    """Provide the principal of a key with all scopes."""
    return keys.authenticate(keys.issue("acme", "laptop", frozenset(Scope))[1])


def test_a_ticket_shows_one_job_for_reading_at_the_rate_of_its_key(
    keys: KeyService, clock: HandClock
) -> None:
    key, secret = keys.issue("acme", "laptop", frozenset(Scope), rate_limit_rpm=7)
    ticket = keys.issue_ticket(keys.authenticate(secret), "job_1")
    assert ticket.expires_at == clock() + timedelta(seconds=900)
    assert keys.redeem(ticket.secret) == Principal(
        tenant="acme",
        key_id=key.id,
        scopes=frozenset({Scope.READ}),
        rate_limit_rpm=7,
        job_id="job_1",
        expires_at=ticket.expires_at,
    )


@pytest.mark.parametrize(("seconds", "end"), [(60, 60), (901, 900)])
def test_a_visitor_s_end_is_the_ticket_s_or_the_key_s_whichever_comes_first(
    keys: KeyService, clock: HandClock, seconds: int, end: int
) -> None:
    until = clock() + timedelta(seconds=seconds)
    _, secret = keys.issue("acme", "laptop", frozenset(Scope), until)
    holder = keys.authenticate(secret)
    visitor = keys.redeem(keys.issue_ticket(holder, "job_1").secret)
    assert holder.expires_at == until
    assert visitor.expires_at == clock() + timedelta(seconds=end)


def test_a_ticket_may_be_redeemed_again(keys: KeyService, holder: Principal) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    assert keys.redeem(ticket.secret) == keys.redeem(ticket.secret)


def test_a_ticket_is_no_key_and_a_key_no_ticket(keys: KeyService, holder: Principal) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    _, secret = keys.issue("acme", "laptop", frozenset({Scope.READ}))
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.authenticate(ticket.secret)
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.redeem(secret)


def test_only_the_hash_of_a_ticket_is_stored_and_none_is_shown(
    keys: KeyService, store: FakeKeyStore, holder: Principal
) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    assert ticket.secret.startswith("spt_")
    assert list(store.tickets) == [hashlib.sha256(ticket.secret.encode()).hexdigest()]
    assert ticket.secret not in f"{ticket!r} {store.tickets!r}"


@pytest.mark.parametrize("secret", [None, "", "spt_", "spt_unknown", "\udcff"])
def test_no_and_unknown_tickets_are_refused_alike(
    keys: KeyService, holder: Principal, secret: str | None
) -> None:
    keys.issue_ticket(holder, "job_1")
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.redeem(secret)


def test_a_ticket_ends_after_a_quarter_of_an_hour(
    keys: KeyService, clock: HandClock, holder: Principal
) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    clock.advance(899.999)
    keys.redeem(ticket.secret)
    clock.advance(0.001)
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.redeem(ticket.secret)


def test_a_ticket_ends_with_its_key_when_that_is_revoked(
    keys: KeyService, holder: Principal
) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    keys.revoke("acme", holder.key_id)
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.redeem(ticket.secret)


def test_a_ticket_ends_with_its_key_when_that_expires(keys: KeyService, clock: HandClock) -> None:
    _, secret = keys.issue(
        "acme", "laptop", frozenset({Scope.READ}), clock() + timedelta(seconds=5)
    )
    ticket = keys.issue_ticket(keys.authenticate(secret), "job_1")
    clock.advance(5)
    with pytest.raises(AuthRequired, match=REFUSED):
        keys.redeem(ticket.secret)


def test_a_store_that_is_down_refuses_no_ticket_for_good(
    keys: KeyService, store: FakeKeyStore, holder: Principal
) -> None:
    ticket = keys.issue_ticket(holder, "job_1")
    store.available = False
    with pytest.raises(DependencyUnavailable):
        keys.redeem(ticket.secret)

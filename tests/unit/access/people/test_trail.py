"""The audit trail: every start and end of a session, and every change of an account."""

import json

import pytest

from spinneret.access.permissions import Role
from spinneret.kernel.errors import AuthRequired
from tests.unit.access.people.team import HERE, PASSWORD, Team

OTHER = "quite another password"


def types(team: Team) -> list[str]:
    """Return the types of all events so far, oldest first."""
    return [event.type.removeprefix("user.") for event in team.trail.events]


# covers T-02
def test_sessions_and_changes_are_recorded_with_their_causes(team: Team) -> None:
    admin, user = team.person(Role.ADMIN, "lena"), team.person(Role.SELLER)
    team.trail.events.clear()
    token = team.sign_in().refresh_token
    team.sessions.sign_out(token, everywhere=True)
    reused = team.sign_in().refresh_token
    team.sessions.refresh(reused)
    team.clock.advance(11)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(reused)
    team.passwords.change("acme", user.id, PASSWORD, OTHER, HERE)
    for role, is_active in ((Role.SELLER, True), (Role.VIEWER, True), (Role.VIEWER, False)):
        team.replace(user.id, role, is_active=is_active, by=admin.id)
    team.users.remove("acme", user.id, admin.id)
    assert types(team) == [
        *("signed_in", "signed_out", "signed_in", "session_revoked", "password_changed"),
        *("role_changed", "deactivated", "deleted"),
    ]
    told = [{**event.data} for event in team.trail.events]
    assert {each.pop("user_id") for each in told} == {user.id}
    assert told[1] == {"all": True}
    changed = {"by": admin.id, "from_role": "seller", "to_role": "viewer"}
    assert told[5:] == [changed, {"by": admin.id}, {"by": admin.id}]
    shown = json.dumps(told) + repr(team.trail.events)
    assert not [each for each in (PASSWORD, OTHER, token, "maya@example.com") if each in shown]


# covers T-02
def test_a_flood_of_failures_is_no_flood_of_events(team: Team) -> None:
    team.person()
    team.trail.events.clear()

    def fail(address: str, name: str = "maya") -> None:
        with pytest.raises(AuthRequired):
            team.sign_in(name, password="a wrong password here", address=address)

    for _ in range(20):
        fail("203.0.113.1")
    assert types(team) == ["sign_in_failed", "locked_out"]
    assert team.trail.events[0].data["address"] == "203.0.113.1"
    for number in range(200):
        fail(f"10.0.0.{number}")
    assert types(team)[2:] == ["sign_in_failed"] * 94 + ["locked_out"]
    fail("203.0.113.9", "nobody")
    assert (len(team.trail.events), team.trail.strangers) == (97, 1)

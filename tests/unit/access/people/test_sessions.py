"""Sessions: each refresh token is rotated once, and an ended session can't be used again."""

import hmac
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import ROLE_PERMISSIONS, Permission, Role
from spinneret.kernel.errors import AuthRequired, DependencyUnavailable, RateLimited
from tests.unit.access.people.team import HERE, PASSWORD, Team, make_team


# covers T-02
def test_a_person_is_a_caller_with_the_permissions_of_the_role(team: Team) -> None:
    user = team.person(Role.SELLER)
    caller = team.keys.authenticate(team.sign_in().access_token)
    assert (caller.tenant, caller.key_id, caller.role) == ("acme", user.id, Role.SELLER)
    assert caller.permissions == ROLE_PERMISSIONS[Role.SELLER]
    assert caller.may_use(Scope.ADMIN, Permission.MANAGE_CONNECTIONS)
    assert not caller.may_use(Scope.READ, Permission.MANAGE_USERS)


# covers T-02
def test_a_refresh_gives_the_same_successor_for_ten_seconds(team: Team) -> None:
    team.person()
    first = team.sign_in().refresh_token
    second = team.sessions.refresh(first).refresh_token
    team.clock.advance(10)
    assert team.sessions.refresh(first).refresh_token == second
    team.clock.advance(1)
    third = team.sessions.refresh(second).refresh_token
    assert len({first, second, third}) == 3


# covers T-02
def test_a_slow_request_of_one_tab_outlives_the_refreshes_of_others(team: Team) -> None:
    """A request with the first cookie arrives after a request of a tab that has the second one."""
    team.person()
    first = team.sign_in().refresh_token
    second = team.sessions.refresh(first).refresh_token
    answers = [team.sessions.refresh(token) for token in (second, second, first)]
    assert {each.refresh_token for each in answers} == {second}
    assert all(team.keys.authenticate(each.access_token) for each in answers)
    team.clock.advance(11)
    assert team.sessions.refresh(second).refresh_token != second
    with pytest.raises(AuthRequired):
        team.sessions.refresh(first)


# covers T-02
@pytest.mark.parametrize("rotations", [1, 2])
def test_a_later_use_of_a_rotated_token_ends_the_session(team: Team, rotations: int) -> None:
    team.person()
    first = latest = team.sign_in().refresh_token
    for _ in range(rotations):
        latest = team.sessions.refresh(latest).refresh_token
        team.clock.advance(11)
    for token in (first, latest):
        with pytest.raises(AuthRequired):
            team.sessions.refresh(token)


def made_up(token: str, stored_hash: str) -> dict[str, str]:
    """Return tokens that name the session of the given token but were never issued."""
    stem, _, last = token.rpartition(".")
    secret, tag = last[:64], last[64:]
    keyless = hmac.digest(b"", secret.encode(), "sha256").hex()
    lasts = {
        "another secret": "0" * 64 + tag,
        "another tag": secret + "0" * 32,
        "no tag": secret,
        "the stored hash": stored_hash + tag,
        "a tag of no key": secret + keyless[:32],
        "not ASCII": f"é{last}",
        "nothing": "",
    }
    return {name: f"{stem}.{each}" for name, each in lasts.items()}


# covers T-02
@pytest.mark.parametrize("how", made_up("", ""))
def test_a_token_that_was_never_issued_changes_nothing(team: Team, how: str) -> None:
    """Every access token names its session's id, so the id alone must not end the session."""
    team.person()
    token = team.sign_in().refresh_token
    stored = dict(team.session_store.sessions)
    [session] = stored.values()
    forged = made_up(token, session.token_hash)[how]
    for _ in range(2):
        with pytest.raises(AuthRequired):
            team.sessions.refresh(forged)
        for everywhere in (False, True):
            with pytest.raises(AuthRequired):
                team.sessions.sign_out(forged, everywhere=everywhere)
        assert team.session_store.sessions == stored
        team.clock.advance(11)
    assert team.sessions.refresh(token)


def test_a_session_without_a_key_for_tags_has_ended(team: Team) -> None:
    team.person()
    token = team.sign_in().refresh_token
    [(place, session)] = team.session_store.sessions.items()
    team.session_store.sessions[place] = replace(session, tag_key="")
    for each in (token, made_up(token, "")["a tag of no key"]):
        with pytest.raises(AuthRequired):
            team.sessions.refresh(each)


def test_a_former_token_ends_its_own_session_only(team: Team) -> None:
    team.person()
    first, other = team.sign_in().refresh_token, team.sign_in().refresh_token
    second = team.sessions.refresh(first).refresh_token
    team.clock.advance(11)
    with pytest.raises(AuthRequired):
        team.sessions.sign_out(first, everywhere=True)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(second)
    assert team.sessions.refresh(other)


def test_a_session_ends_after_seven_days(team: Team) -> None:
    team.person()
    token = team.sign_in().refresh_token
    team.clock.advance(6 * 86400)
    token = team.sessions.refresh(token).refresh_token
    team.clock.advance(86400)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(token)


# covers T-02
@pytest.mark.parametrize("end", ["logout", "logout all", "password", "role", "inactive", "delete"])
def test_what_ends_a_session_ends_its_tickets_at_once_and_its_access_tokens_within_a_minute(
    team: Team, end: str
) -> None:
    user = team.person(Role.SELLER)
    team.person(Role.ADMIN, "lena")
    tokens = team.sign_in()
    caller = team.keys.authenticate(tokens.access_token)
    ticket = team.keys.issue_ticket(caller, "job_1")
    assert team.keys.redeem(ticket.secret).job_id == "job_1"
    assert team.keys.holds(caller)
    match end:
        case "logout" | "logout all":
            team.sessions.sign_out(tokens.refresh_token, everywhere=end == "logout all")
        case "password":
            team.passwords.change("acme", user.id, PASSWORD, "quite another password", HERE)
        case "role":
            team.replace(user.id, Role.VIEWER)
        case "inactive":
            team.replace(user.id, Role.SELLER, is_active=False)
        case _:
            team.users.remove("acme", user.id, "u_0")
    assert not team.keys.holds(caller)
    with pytest.raises(AuthRequired):
        team.keys.redeem(ticket.secret)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(tokens.refresh_token)
    team.clock.advance(60)
    with pytest.raises(AuthRequired):
        team.keys.authenticate(tokens.access_token)


def test_one_session_ends_without_the_others_unless_all_are_meant(team: Team) -> None:
    team.person()
    one, two, three = (team.sign_in().refresh_token for _ in range(3))
    team.sessions.sign_out(one, everywhere=False)
    two = team.sessions.refresh(two).refresh_token
    team.sessions.sign_out(two, everywhere=True)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(three)


def test_a_warm_process_reads_no_row_for_a_person(team: Team) -> None:
    team.person()
    token = team.sign_in().access_token
    team.keys.authenticate(token)
    before = (team.user_store.reads, team.key_sets.reads)
    team.clock.advance(59)
    team.keys.authenticate(token)
    assert (team.user_store.reads, team.key_sets.reads) == before


# ---------------------------------------------------------------- Tickets and keys of people


def test_a_ticket_of_a_person_ends_with_the_person(team: Team) -> None:
    user = team.person(Role.VIEWER)
    ticket = team.keys.issue_ticket(team.keys.authenticate(team.sign_in().access_token), "job_1")
    assert team.keys.redeem(ticket.secret).job_id == "job_1"
    assert team.keys.is_active("acme", user.id)
    assert not team.keys.allows("acme", user.id, Scope.WRITE, Permission.PUBLISH_PRODUCT)
    team.replace(user.id, Role.VIEWER, is_active=False)
    assert not team.keys.is_active("acme", user.id)
    with pytest.raises(AuthRequired):
        team.keys.redeem(ticket.secret)


# ---------------------------------------------------------------- Guessed passwords


def test_unknown_wrong_inactive_and_locked_are_answered_alike(team: Team) -> None:
    team.person(Role.ADMIN, "lena")
    user = team.person(Role.SELLER)
    answers = set()
    attempts: list[tuple[str, str, str]] = [
        ("acme", "maya@example.com", "a wrong password here"),
        ("acme", "nobody@example.com", PASSWORD),
        ("other", "maya@example.com", PASSWORD),
        ("No Tenant#", "maya@example.com", PASSWORD),
        ("acme", "no address", PASSWORD),
    ]
    team.replace(user.id, Role.SELLER, is_active=False)
    attempts.append(("acme", "maya@example.com", PASSWORD))
    for number, attempt in enumerate(attempts, start=1):
        with pytest.raises(AuthRequired) as caught:
            team.entrance.sign_in(*attempt, f"203.0.113.{number}")
        answers.add(str(caught.value))
    assert len(answers) == 1
    assert team.hasher.checks == len(attempts)  # each is equally slow


@pytest.mark.parametrize(("failures", "delay"), [(5, 30), (6, 60), (8, 240), (40, 3600)])
def test_failures_at_one_address_delay_the_next_attempt_there(
    team: Team, failures: int, delay: int
) -> None:
    team.person()
    for _ in range(failures):
        with pytest.raises(AuthRequired):
            team.sign_in(password="a wrong password here")
        team.clock.advance(3600)
    team.clock.advance(-3600)
    with pytest.raises(AuthRequired):
        team.sign_in()
    assert team.sign_in(address="198.51.100.1")
    team.clock.advance(delay - 1)
    with pytest.raises(AuthRequired):
        team.sign_in()
    team.clock.advance(1)
    assert team.sign_in()
    assert team.sign_in()


def test_a_hundred_failures_of_an_account_in_an_hour_lock_it_everywhere(team: Team) -> None:
    team.person()
    for number in range(100):
        with pytest.raises(AuthRequired):
            team.sign_in(password="a wrong password here", address=f"10.0.0.{number}")
    with pytest.raises(AuthRequired):
        team.sign_in(address="198.51.100.1")
    team.clock.advance(3600)
    assert team.sign_in(address="198.51.100.1")


def test_an_address_attempts_a_hundred_sign_ins_a_minute(team: Team) -> None:
    team.person()
    for number in range(100):
        with pytest.raises(AuthRequired):
            team.sign_in(f"nobody{number}")
    with pytest.raises(RateLimited):
        team.sign_in()
    assert team.sign_in(address="198.51.100.1")


def test_a_hash_with_former_parameters_is_renewed_at_sign_in(team: Team) -> None:
    user = team.person()
    team.hasher.salt = "two"
    team.sign_in()
    stored = team.user_store.users["acme", user.id]
    assert stored.password_hash is not None
    assert stored.password_hash.startswith("two$")
    assert stored.last_login_at == team.clock()


def test_without_the_signer_nobody_signs_in_and_sessions_go_on(team: Team) -> None:
    team.person()
    token = team.sign_in().access_token
    team.signer.available = False
    with pytest.raises(DependencyUnavailable):
        team.sign_in()
    assert team.keys.authenticate(token)
    team.key_sets.available = False
    team.clock.advance(50)
    assert team.keys.authenticate(token)


# covers T-02
def test_no_secret_is_shown_by_what_is_logged_or_stored(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    team.person()
    tokens = team.sign_in()
    renewed = team.sessions.refresh(tokens.refresh_token)
    shown = f"{tokens}{renewed}{team.session_store.sessions}{team.user_store.users}{caplog.text}"
    for secret in (PASSWORD, tokens.access_token, tokens.refresh_token, renewed.refresh_token):
        assert secret not in shown
        assert secret.rpartition(".")[2] not in shown


# ---------------------------------------------------------------- Any sequence of operations


class Sessions(RuleBasedStateMachine):
    """State machine of one user's sign-ins, refreshes, sign-outs and role changes in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.team = make_team()
        self.user = self.team.person(Role.SELLER)
        self.team.person(Role.ADMIN, "lena")
        self.tokens: list[str] = []
        """Refresh tokens that are in force."""
        self.ended: list[str] = []
        """Refresh tokens of ended sessions."""

    @rule()
    def sign_in(self) -> None:
        self.tokens.append(self.team.sign_in().refresh_token)

    @precondition(lambda self: self.tokens)
    @rule(number=st.integers(0, 9))
    def refresh(self, number: int) -> None:
        at = number % len(self.tokens)
        self.tokens[at] = self.team.sessions.refresh(self.tokens[at]).refresh_token

    @precondition(lambda self: self.tokens)
    @rule(number=st.integers(0, 9))
    def steal(self, number: int) -> None:
        at = number % len(self.tokens)
        old = self.tokens[at]
        self.team.clock.advance(11)
        new = self.team.sessions.refresh(old).refresh_token
        self.team.clock.advance(11)
        with pytest.raises(AuthRequired):
            self.team.sessions.refresh(old)
        self.ended += [old, new]
        del self.tokens[at]

    @precondition(lambda self: self.tokens)
    @rule(everywhere=st.booleans())
    def sign_out(self, everywhere: bool) -> None:
        token = self.tokens.pop()
        self.team.sessions.sign_out(token, everywhere=everywhere)
        self.ended.append(token)
        if everywhere:
            self._all_end()

    @rule(role=st.sampled_from([Role.SELLER, Role.VIEWER]))
    def change_role(self, role: Role) -> None:
        current = self.team.users.get("acme", self.user.id).role
        self.team.replace(self.user.id, role)
        if role is not current:
            self._all_end()

    @invariant()
    def no_ended_session_is_usable(self) -> None:
        for token in self.ended:
            with pytest.raises(AuthRequired):
                self.team.sessions.refresh(token)

    def _all_end(self) -> None:
        self.ended += self.tokens
        self.tokens = []


Sessions.TestCase.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)
TestSessions: Any = Sessions.TestCase


def test_a_crash_after_the_rotation_loses_no_session(team: Team) -> None:
    """The client gets no response and repeats the refresh with the token that it has."""
    team.person()
    token = team.sign_in().refresh_token
    team.signer.available = False
    with pytest.raises(DependencyUnavailable):
        team.sessions.refresh(token)
    team.signer.available = True
    successor = team.sessions.refresh(token).refresh_token
    assert team.sessions.refresh(successor)
    assert len(team.session_store.sessions) == 1


def test_a_session_of_a_former_epoch_is_none(team: Team) -> None:
    """A sign-in gives no valid session if a change of role overtakes it."""
    user = team.person(Role.SELLER)
    token = team.sign_in().refresh_token
    [(place, session)] = team.session_store.sessions.items()
    team.session_store.sessions[place] = replace(session, epoch=user.epoch - 1)
    with pytest.raises(AuthRequired):
        team.sessions.refresh(token)

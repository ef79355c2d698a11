"""Users: invited once, with passwords that are hard to guess, and at least one administrator."""

import pytest

from spinneret.access.permissions import ALL, ROLE_PERMISSIONS, Permission, Role
from spinneret.access.users import rules
from spinneret.access.users.common_passwords import COMMONEST, common_passwords
from spinneret.kernel.errors import (
    AuthRequired,
    Conflict,
    DomainError,
    Forbidden,
    NotFound,
    ValidationFailed,
)
from tests.unit.access.people.team import HERE, PASSWORD, Team

OTHER = "quite another long password"


# covers T-03
def test_an_invitation_sets_one_password_within_72_hours(team: Team) -> None:
    user, invitation = team.invite("maya@example.com", Role.SELLER)
    assert user.password_hash is None
    assert invitation not in repr(team.user_store.users)
    team.clock.advance(72 * 3600 - 1)
    accepted = team.passwords.accept(invitation, PASSWORD)
    assert (accepted.id, accepted.role) == (user.id, Role.SELLER)
    with pytest.raises(AuthRequired):
        team.passwords.accept(invitation, OTHER)
    _, late = team.invite("noah@example.com", Role.VIEWER)
    team.clock.advance(72 * 3600)
    with pytest.raises(AuthRequired):
        team.passwords.accept(late, PASSWORD)


@pytest.mark.parametrize(
    "wrong", ["", "spi_", "spi_acme.u_1.0", "spi_a.b", "spn_x.y.z", "spi_../x.u#1.0", "é" * 90]
)
def test_a_wrong_invitation_is_refused(team: Team, wrong: str) -> None:
    team.person()
    with pytest.raises(AuthRequired, match=r"^a valid invitation is required$"):
        team.passwords.accept(wrong, PASSWORD)


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "x" * 14,
        "long enough but " * 9,
        "a" * 20,
        "maya-of-the-team@example.com",
        "MAYA-of-the-team@example.com",
        "passwordpassword",
        "Qwertyqwertyqwerty",
        "\uff30assword" * 2,  # full-width P, which NFKC maps to P
    ],
)
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationFailed):
        rules.checked_password(password, "maya-of-the-team@example.com")


@pytest.mark.parametrize("password", ["x y" * 5, "日本語" * 5, "ab" * 64])
def test_any_other_password_of_15_to_128_characters_is_accepted(password: str) -> None:
    assert rules.checked_password(password, "maya@example.com") == password


def test_the_list_of_common_passwords_holds_a_thousand_that_are_long_enough() -> None:
    assert len(common_passwords()) == COMMONEST
    assert min(map(len, common_passwords())) >= 15


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("Maya@Example.COM", "maya@example.com"),
        ("  maya@example.com ", "maya@example.com"),
        ("maya@bücher.example", "maya@xn--bcher-kva.example"),
        ("\uff4daya@example.com", "maya@example.com"),
    ],
)
def test_addresses_are_compared_in_one_form(given: str, stored: str) -> None:
    assert rules.normalized_email(given) == stored


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "maya",
        "@example.com",
        "maya@",
        "m aya@example.com",
        "a@b@",
        "maya@com",
        "a\n@b.c",
        "a@b.co\0.c",
    ],
)
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationFailed):
        rules.normalized_email(wrong)


def test_an_address_is_one_person_s_in_a_tenant(team: Team) -> None:
    team.person()
    with pytest.raises(Conflict):
        team.invite("MAYA@example.com", Role.VIEWER)
    team.person(tenant="other")


# covers T-03
@pytest.mark.parametrize("change", ["delete", "demote", "deactivate"])
def test_the_last_active_administrator_stays(team: Team, change: str) -> None:
    admin = team.person()
    team.person(Role.SELLER, "noah")

    def apply() -> None:
        if change == "delete":
            team.users.remove("acme", admin.id, "u_0")
        else:
            role = Role.VIEWER if change == "demote" else Role.ADMIN
            team.replace(admin.id, role, is_active=change == "demote")

    _, invitation = team.invite("lena@example.com", Role.ADMIN)
    with pytest.raises(Conflict):
        apply()
    team.passwords.accept(invitation, PASSWORD)
    apply()


def test_a_foreign_person_is_answered_as_an_unknown_one(team: Team) -> None:
    user = team.person()
    for use in (
        lambda: team.users.get("other", user.id),
        lambda: team.users.remove("other", user.id, "u_0"),
        lambda: team.users.replace(
            "other", user.id, "x", Role.VIEWER, is_active=True, by="u_0", permissions=ALL
        ),
    ):
        with pytest.raises(NotFound, match=r"^no such user$"):
            use()


def test_a_password_is_changed_by_those_who_have_it(team: Team) -> None:
    user = team.person()
    with pytest.raises(Forbidden):
        team.passwords.change("acme", user.id, OTHER, OTHER, HERE)
    with pytest.raises(ValidationFailed):
        team.passwords.change("acme", user.id, PASSWORD, "short", HERE)
    team.passwords.change("acme", user.id, PASSWORD, OTHER, HERE)
    with pytest.raises(DomainError):
        team.sign_in()
    assert team.sign_in(password=OTHER)


# covers T-02
def test_guesses_of_the_current_password_count_as_failed_sign_ins(team: Team) -> None:
    user = team.person()
    for _ in range(5):
        with pytest.raises(Forbidden):
            team.passwords.change("acme", user.id, OTHER, OTHER, HERE)
    assert team.trail.events[-1].type == "user.locked_out"
    for refused in (
        lambda: team.passwords.change("acme", user.id, PASSWORD, OTHER, HERE),
        team.sign_in,
    ):
        with pytest.raises(DomainError):
            refused()
    team.clock.advance(31)
    team.passwords.change("acme", user.id, PASSWORD, OTHER, HERE)
    assert team.sign_in(password=OTHER)


# covers T-03
def test_roles_have_the_permissions_of_their_work() -> None:
    assert ROLE_PERMISSIONS[Role.ADMIN] == ALL
    assert ROLE_PERMISSIONS[Role.VIEWER] < ROLE_PERMISSIONS[Role.SELLER] < ALL
    selling = ROLE_PERMISSIONS[Role.SELLER] - ROLE_PERMISSIONS[Role.VIEWER]
    assert selling == {
        Permission.CREATE_PRODUCT,
        Permission.PUBLISH_PRODUCT,
        Permission.MANAGE_CONNECTIONS,
        Permission.UPLOAD,
    }

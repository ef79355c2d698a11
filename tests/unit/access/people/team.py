"""User services on fakes."""

import itertools
from dataclasses import dataclass

from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import ALL, Role
from spinneret.access.sessions.models import Tokens
from spinneret.access.sessions.people import SignedInPeople
from spinneret.access.sessions.service import SessionService
from spinneret.access.sessions.sign_in import SignIn
from spinneret.access.tokens.rotation import KeyRotation
from spinneret.access.tokens.service import TokenIssuer, TokenVerifier
from spinneret.access.users.models import User
from spinneret.access.users.passwords import PasswordService
from spinneret.access.users.service import UserService
from tests.fakes.keys import FakeKeyStore, FakeRateLimitStore
from tests.fakes.people import (
    FakeFailureStore,
    FakeHasher,
    FakeKeySetStore,
    FakeMac,
    FakeSessionStore,
    FakeSigner,
    FakeTrail,
    FakeUserStore,
)
from tests.fakes.time import HandClock

PASSWORD = "a password of some length"
HERE = "203.0.113.7"


@dataclass
class Team:
    """User services that share one set of stores."""

    clock: HandClock
    users: UserService
    passwords: PasswordService
    entrance: SignIn
    sessions: SessionService
    keys: KeyService
    rotation: KeyRotation
    verifier: TokenVerifier
    trail: FakeTrail
    user_store: FakeUserStore
    session_store: FakeSessionStore
    key_sets: FakeKeySetStore
    signer: FakeSigner
    hasher: FakeHasher

    def person(self, role: Role = Role.ADMIN, name: str = "maya", tenant: str = "acme") -> User:
        """Return a new user who has chosen PASSWORD."""
        _, invitation = self.invite(f"{name}@example.com", role, tenant)
        return self.passwords.accept(invitation, PASSWORD)

    def invite(self, email: str, role: Role, tenant: str = "acme") -> tuple[User, str]:
        """Invite a user as the operator does."""
        return self.users.invite(tenant, email, email, role, ALL)

    def replace(self, user_id: str, role: Role, *, is_active: bool = True, by: str = "u_0") -> None:
        """Change a user of acme as an administrator does."""
        self.users.replace(
            "acme", user_id, "Maya", role, is_active=is_active, by=by, permissions=ALL
        )

    def sign_in(self, name: str = "maya", password: str = PASSWORD, address: str = HERE) -> Tokens:
        """Sign a user of acme in."""
        return self.entrance.sign_in("acme", f"{name}@example.com", password, address)


def make_team() -> Team:
    """Return a team whose stage has a signing key."""
    clock, numbers = HandClock(), itertools.count(1)
    trail = FakeTrail()
    users, sessions = FakeUserStore(trail), FakeSessionStore(trail)
    signer = FakeSigner()
    key_sets, hasher, windows = FakeKeySetStore(), FakeHasher(), FakeRateLimitStore()
    failures = FakeFailureStore()

    def new_id(prefix: str) -> str:
        return f"{prefix}_{next(numbers):05}"

    def random(length: int) -> bytes:
        return next(numbers).to_bytes(length, "big")

    verifier = TokenVerifier(keys=key_sets, issuer="spinneret", audience="api", clock=clock)
    issuer = TokenIssuer(
        keys=key_sets,
        signer=signer,
        issuer="spinneret",
        audience="api",
        clock=clock,
        random=random,
    )
    people = SignedInPeople(
        users=users, sessions=sessions, verifier=verifier, clock=clock, requests_per_minute=300
    )
    team = Team(
        clock=clock,
        users=UserService(users=users, clock=clock, new_id=new_id, random=random),
        passwords=PasswordService(
            users=users, failures=failures, trail=trail, hasher=hasher, clock=clock
        ),
        entrance=SignIn(
            users=users,
            sessions=sessions,
            failures=failures,
            trail=trail,
            windows=windows,
            hasher=hasher,
            issuer=issuer,
            clock=clock,
            new_id=new_id,
            random=random,
        ),
        sessions=SessionService(
            users=users,
            sessions=sessions,
            issuer=issuer,
            successor=FakeMac(),
            clock=clock,
        ),
        keys=KeyService(
            keys=FakeKeyStore(),
            windows=windows,
            clock=clock,
            new_id=new_id,
            random=random,
            people=people,
        ),
        rotation=KeyRotation(keys=key_sets, signer=signer, clock=clock, new_id=new_id),
        verifier=verifier,
        trail=trail,
        user_store=users,
        session_store=sessions,
        key_sets=key_sets,
        signer=signer,
        hasher=hasher,
    )
    team.rotation.run()
    return team

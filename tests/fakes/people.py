"""People, sessions, signing keys and password hashes in memory."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from spinneret.access import limits
from spinneret.access.sessions.models import Failures, Session
from spinneret.access.tenants.rules import require_active
from spinneret.access.tokens.models import KeySet
from spinneret.access.users.models import User, Verified
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent
from tests.fakes.dependency import FakeDependency


class FakeTrail:
    """Implements Trail; the other fakes add the events of their changes."""

    def __init__(self) -> None:
        self.events: list[DomainEvent] = []
        self.strangers = 0
        """Number of events of unknown accounts."""

    def record(self, event: DomainEvent, *, known: bool) -> None:
        if known:
            self.events.append(event)
        else:
            self.strangers += 1

    def page(self, tenant: str, after: str | None, limit: int) -> Page[DomainEvent]:
        own = [each for each in self.events if each.tenant == tenant]
        newest = sorted(own, key=_place, reverse=True)
        found = [each for each in newest if after is None or _place(each) < after]
        return Page.cut(found, limit, _place)


def _place(event: DomainEvent) -> str:
    return f"{event.sequence:020d}#{event.subject}#{event.type}"


class FakeUserStore:
    """Implements UserStore."""

    def __init__(self, trail: FakeTrail | None = None) -> None:
        self.trail = trail or FakeTrail()
        self.users: dict[tuple[str, str], User] = {}
        self.reads = 0
        self.suspended: dict[str, str] = {}
        """Reasons of suspensions by tenant."""

    def add(self, user: User, at_most: int) -> None:
        require_active(self.suspended.get(user.tenant))
        own = self._of(user.tenant)
        if any(each.email == user.email for each in own) or len(own) >= at_most:
            raise Conflict("taken, or too many")
        self.users[user.tenant, user.id] = user

    def get(self, tenant: str, user_id: str) -> User | None:
        self.reads += 1
        return self.users.get((tenant, user_id))

    def find(self, tenant: str, email: str) -> User | None:
        return next((each for each in self._of(tenant) if each.email == email), None)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[User]:
        own = sorted(self._of(tenant), key=lambda user: user.id)
        found = [user for user in own if after is None or user.id > after]
        return Page.cut(found, limit, lambda each: each.id)

    def change(self, user: User, events: Callable[[User], Sequence[DomainEvent]]) -> bool:
        former = self.users.get((user.tenant, user.id))
        if former is None:
            return False
        ends = (former.role, former.is_active) != (user.role, user.is_active)
        changed = replace(
            former,
            name=user.name,
            role=user.role,
            is_active=user.is_active,
            epoch=former.epoch + ends,
        )
        self._keep_admin(former, changed)
        self.trail.events += events(former)
        self.users[user.tenant, user.id] = changed
        return True

    def remove(self, user: User, event: DomainEvent) -> bool:
        former = self.users.get((user.tenant, user.id))
        if former is None:
            return False
        self._keep_admin(former, None)
        del self.users[user.tenant, user.id]
        self.trail.events.append(event)
        return True

    def set_password(self, user: User, password_hash: str, event: DomainEvent) -> bool:
        stored = self.users.get((user.tenant, user.id))
        if stored is None or not stored.has_credentials_of(user):
            return False
        require_active(self.suspended.get(user.tenant))
        self.trail.events.append(event)
        self.users[user.tenant, user.id] = replace(
            stored,
            password_hash=password_hash,
            invitation_hash=None,
            invited_until=None,
            epoch=stored.epoch + 1,
        )
        return True

    def signed_in(self, user: User, now: datetime, new_hash: str | None) -> None:
        stored = self.users.get((user.tenant, user.id))
        if stored is None:
            return
        is_same = stored.password_hash == user.password_hash
        chosen = new_hash if new_hash is not None and is_same else stored.password_hash
        self.users[user.tenant, user.id] = replace(stored, last_login_at=now, password_hash=chosen)

    def end_sessions(self, tenant: str, user_id: str) -> None:
        stored = self.users.get((tenant, user_id))
        if stored is not None:
            self.users[tenant, user_id] = replace(stored, epoch=stored.epoch + 1)

    def _of(self, tenant: str) -> list[User]:
        return [user for user in self.users.values() if user.tenant == tenant]

    def _keep_admin(self, former: User, wanted: User | None) -> None:
        others = [each for each in self._of(former.tenant) if each.id != former.id]
        kept = any(each.is_active_admin for each in (*others, *((wanted,) if wanted else ())))
        if former.is_active_admin and not kept:
            raise Conflict("the last administrator")


class FakeSessionStore:
    """Implements SessionStore."""

    def __init__(self, trail: FakeTrail | None = None) -> None:
        self.trail = trail or FakeTrail()
        self.sessions: dict[tuple[str, str, str], Session] = {}

    def add(self, session: Session, event: DomainEvent) -> None:
        self.sessions[session.tenant, session.user_id, session.id] = session
        self.trail.events.append(event)

    def get(self, tenant: str, user_id: str, session_id: str) -> Session | None:
        return self.sessions.get((tenant, user_id, session_id))

    def rotate(self, session: Session, token_hash: str, now: datetime) -> Session | None:
        place = (session.tenant, session.user_id, session.id)
        stored = self.sessions.get(place)
        if stored is not None and stored.token_hash == session.token_hash:
            stored = replace(
                stored, token_hash=token_hash, former_hash=session.token_hash, rotated_at=now
            )
            self.sessions[place] = stored
        return stored

    def remove(self, session: Session, event: DomainEvent) -> None:
        if self.sessions.pop((session.tenant, session.user_id, session.id), None) is not None:
            self.trail.events.append(event)


class FakeFailureStore:
    """Implements FailureStore."""

    def __init__(self) -> None:
        self._here: dict[tuple[str, str, str], Failures] = {}
        self._hours: dict[tuple[str, str, str], int] = {}

    def get(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = self._counting(tenant, email, address, now)
        return replace(here, everywhere=self._hours.get((tenant, email, f"{now:%Y%m%d%H}"), 0))

    def add(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = self._counting(tenant, email, address, now)
        self._here[tenant, email, address] = Failures(here=here.here + 1, last_at=now)
        hour = (tenant, email, f"{now:%Y%m%d%H}")
        self._hours[hour] = self._hours.get(hour, 0) + 1
        return self.get(tenant, email, address, now)

    def clear(self, tenant: str, email: str, address: str) -> None:
        self._here.pop((tenant, email, address), None)

    def _counting(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = self._here.get((tenant, email, address), Failures())
        kept = timedelta(seconds=limits.FAILURES_SECONDS)
        return Failures() if here.last_at is None or here.last_at + kept <= now else here


class FakeKeySetStore(FakeDependency):
    """Implements KeySetStore."""

    def __init__(self) -> None:
        self.keys = KeySet()
        self.reads = 0

    def read(self) -> KeySet:
        self._require()
        self.reads += 1
        return self.keys

    def replace(self, former: KeySet, keys: KeySet) -> bool:
        if former.version != self.keys.version:
            return False
        self.keys = keys
        return True


@cache
def _private_key(_number: int) -> rsa.RSAPrivateKey:
    """Return the key of a number, cached: generating one takes a tenth of a second."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class FakeSigner(FakeDependency):
    """Implements Signer."""

    dependency = "kms"

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.keys: dict[str, rsa.RSAPrivateKey] = {}

    def create(self) -> tuple[str, str]:
        key_id = f"kms-{len(self.keys) + 1}"
        key = self.keys[key_id] = _private_key(len(self.keys))
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return key_id, public.decode()

    def sign(self, key_id: str, message: bytes) -> bytes:
        self._require()
        return self.keys[key_id].sign(message, padding.PKCS1v15(), hashes.SHA256())

    def delete(self, key_id: str) -> None:
        self.deleted.append(key_id)


class FakeMac:
    """Implements SuccessorSecret."""

    def of(self, text: str) -> bytes:
        return hmac.digest(b"a secret of the stage", text.encode(), "sha256")


class FakeHasher:
    """Implements PasswordHasher with a fast hash; counts its checks."""

    def __init__(self) -> None:
        self.checks = 0
        self.salt = "one"
        """Replacement for the hash's parameters: hashes with another salt are outdated."""

    def hash(self, password: str) -> str:
        return f"{self.salt}${hashlib.sha256(password.encode()).hexdigest()}"

    def verify(self, stored: str | None, password: str) -> Verified:
        self.checks += 1
        if stored is None or stored.partition("$")[2] != self.hash(password).partition("$")[2]:
            return Verified(matches=False)
        is_old = not stored.startswith(f"{self.salt}$")
        return Verified(matches=True, new_hash=self.hash(password) if is_old else None)

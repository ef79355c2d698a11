"""People on DynamoDB.

Tenancy table
    pk `T#<tenant>#USERS`, sk `<user id>`       the user
    pk `T#<tenant>#EMAIL#<address>`, sk `EMAIL`  reserves the address and names its user
    pk `T#<tenant>#PEOPLE`, sk `PEOPLE`          ids of all users and whether each is an active
                                                 administrator with a password; a version; and
                                                 `suspended`, which refuses all changes

Each change of people is one transaction with PEOPLE: two changes at once can't remove the last
administrator.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from spinneret.access.dynamo import RACES, change_list
from spinneret.access.trail.dynamo import Recorded
from spinneret.access.users import items
from spinneret.access.users.models import User
from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import Conflict, DependencyUnavailable
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent

_NOBODY: Final = "u_0"  # an id of no user

People = Mapping[str, bool]
"""User id → whether the user is an active administrator."""


class DynamoUserStore(DynamoAdapter):
    """Implements UserStore; see the module's docstring for the key design."""

    def __init__(
        self, client: DynamoDBClient, table: str, recorded: Recorded = lambda _: []
    ) -> None:
        """Use a table. `recorded` returns the writes of an event; readers need none."""
        super().__init__(client, table)
        self._recorded = recorded
        self._users = Table(client, table, items.USERS)

    def add(self, user: User, at_most: int) -> None:
        writes = [
            self._users.put_write(user, dynamo.ABSENT),
            dynamo.put(
                self._table,
                {**items.email_key(user.tenant, user.email), "user": user.id},
                dynamo.ABSENT,
            ),
        ]

        def with_user(people: People) -> People:
            if len(people) >= at_most:
                raise Conflict(f"a tenant has at most {at_most} users; delete one first")
            return {**people, user.id: user.is_active_admin}

        for _ in range(RACES):
            if self._change(user.tenant, with_user, writes):
                return
            if self.find(user.tenant, user.email) is not None:
                raise Conflict("another user has this e-mail address")
        raise _changing()

    def get(self, tenant: str, user_id: str) -> User | None:
        return self._users.get(items.user_key(tenant, user_id)) if is_id(user_id) else None

    def find(self, tenant: str, email: str) -> User | None:
        found = dynamo.get(self._client, self._table, items.email_key(tenant, email))
        # An unknown address takes as long as a known one.
        return self.get(tenant, found.get("user", _NOBODY))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[User]:
        return self._users.page(items.partition(tenant), after, limit)

    def change(self, user: User, events: Callable[[User], Sequence[DomainEvent]]) -> bool:
        place = items.user_key(user.tenant, user.id)
        for _ in range(RACES):
            former = self.get(user.tenant, user.id)
            if former is None:
                return False
            changed = replace(former, role=user.role, is_active=user.is_active)
            ends = (former.role, former.is_active) != (user.role, user.is_active)
            changes = {"name": user.name, "role": str(user.role), "is_active": user.is_active}
            sets = ", ".join(f"#{name} = :to_{name}" for name in changes)
            values = {f":to_{name}": value for name, value in changes.items()}
            update = (f"SET {sets} ADD #epoch :ends", {**values, ":ends": int(ends)})
            is_same = dynamo.equals(role=str(former.role), is_active=former.is_active)
            write = dynamo.change(self._table, place, update, is_same)
            reports = [write for event in events(former) for write in self._recorded(event)]
            if self._change(user.tenant, _with(changed), [write, *reports]):
                return True
        raise _changing()

    def remove(self, user: User, event: DomainEvent) -> bool:
        tenant, user_id = user.tenant, user.id

        def without(people: People) -> People:
            left = {each: is_admin for each, is_admin in people.items() if each != user_id}
            return _keep_admin(people, left)

        for _ in range(RACES):
            stored = self.get(tenant, user_id)
            if stored is None:
                return False
            writes = [
                dynamo.delete(self._table, items.user_key(tenant, user_id), dynamo.PRESENT),
                dynamo.delete(self._table, items.email_key(tenant, stored.email), dynamo.PRESENT),
                *self._recorded(event),
            ]
            if self._change(tenant, without, writes):
                return True
        raise _changing()

    def set_password(self, user: User, password_hash: str, event: DomainEvent) -> bool:
        place = items.user_key(user.tenant, user.id)
        update = (
            "SET #password_hash = :hash REMOVE #invitation_hash, #invited_until ADD #epoch :one",
            {":hash": password_hash, ":one": 1},
        )
        for _ in range(RACES):
            stored = self.get(user.tenant, user.id)
            if stored is None or not stored.has_credentials_of(user):
                return False
            is_same = dynamo.equals(
                role=str(stored.role),
                is_active=stored.is_active,
                password_hash=stored.password_hash,
                invitation_hash=stored.invitation_hash,
            )
            write = dynamo.change(self._table, place, update, is_same)
            changed = replace(stored, password_hash=password_hash)
            if self._change(user.tenant, _with(changed), [write, *self._recorded(event)]):
                return True
        raise _changing()

    def signed_in(self, user: User, now: datetime, new_hash: str | None) -> None:
        tenant, user_id = user.tenant, user.id
        self._update(tenant, user_id, "SET #last_login_at = :now", {":now": to_iso(now)})
        if new_hash is not None:
            update, new = "SET #password_hash = :hash", {":hash": new_hash}
            unchanged, former = dynamo.equals(password_hash=user.password_hash)
            self._update(tenant, user_id, update, {**new, **former}, unchanged)

    def end_sessions(self, tenant: str, user_id: str) -> None:
        self._update(tenant, user_id, "ADD #epoch :one", {":one": 1})

    def _update(
        self,
        tenant: str,
        user_id: str,
        update: str,
        values: Mapping[str, object],
        condition: str = dynamo.PRESENT[0],
    ) -> None:
        """Update a user who meets the condition; do nothing for any other."""
        row = items.user_key(tenant, user_id)
        dynamo.update_if(self._client, self._table, row, update, values, condition)

    def _change(
        self,
        tenant: str,
        change: Callable[[People], People],
        writes: Sequence[TransactWriteItemTypeDef],
    ) -> bool:
        place = items.people_key(tenant)
        return change_list(self._client, self._table, place, "people", change, writes)


def _with(user: User) -> Callable[[People], People]:
    """Return the function that sets the user's place in the list."""
    return lambda people: _keep_admin(people, {**people, user.id: user.is_active_admin})


def _keep_admin(former: People, people: People) -> People:
    """Return the people. Raises Conflict if the last active administrator would be lost."""
    if any(former.values()) and not any(people.values()):
        raise Conflict("a tenant keeps one active administrator; appoint another first")
    return people


def _changing() -> DependencyUnavailable:
    return DependencyUnavailable("dynamodb", "the tenant's people are changing")

"""Sessions and failed sign-ins on DynamoDB.

Tenancy table
    pk `T#<tenant>#SESSIONS#<user id>`, sk `<session id>`          the session
    pk `T#<tenant>#FAILURES#<hash of address>`, sk `FROM#<ip>`      failures from one address
    pk `T#<tenant>#FAILURES#<hash of address>`, sk `HOUR#<hour>`    failures from all addresses
"""

from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.sessions import items
from spinneret.access.sessions.models import Failures, Session
from spinneret.access.trail.dynamo import Recorded
from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import epoch_seconds, to_iso
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.outbox.models import DomainEvent

_KEPT: Final = timedelta(seconds=limits.FAILURES_SECONDS)
_COUNT: Final = "SET #last_at = :now, #purge_at = :purge ADD #failures :one"
_COUNTS: Final = "attribute_not_exists(#purge_at) OR #purge_at > :present"
_BEGIN: Final = "SET #last_at = :now, #purge_at = :purge, #failures = :one"
_ENDED: Final = "#purge_at <= :present"  # DynamoDB deletes a row some time after that
_ROTATE: Final = "SET #token_hash = :new, #former_hash = :old, #rotated_at = :now"
_IN_FORCE: Final = "attribute_exists(#pk) AND #token_hash = :old"


class DynamoSessionStore(DynamoAdapter):
    """Implements SessionStore: one conditional update rotates."""

    def __init__(
        self, client: DynamoDBClient, table: str, recorded: Recorded = lambda _: []
    ) -> None:
        """Use a table. `recorded` returns the writes of an event; readers need none."""
        super().__init__(client, table)
        self._recorded = recorded
        self._sessions = Table(client, table, items.SESSIONS)

    def add(self, session: Session, event: DomainEvent) -> None:
        writes = [self._sessions.put_write(session), *self._recorded(event)]
        dynamo.transact(self._client, writes)

    def get(self, tenant: str, user_id: str, session_id: str) -> Session | None:
        return self._sessions.get(items.session_key(tenant, user_id, session_id))

    def rotate(self, session: Session, token_hash: str, now: datetime) -> Session | None:
        row = items.session_key(session.tenant, session.user_id, session.id)
        values = {":new": token_hash, ":old": session.token_hash, ":now": to_iso(now)}
        answer = dynamo.update_or_standing(
            self._client, self._table, row, _ROTATE, values, _IN_FORCE
        )
        item = answer.item if isinstance(answer, dynamo.Standing) else answer
        return items.SESSIONS.decode(item) if item else None

    def remove(self, session: Session, event: DomainEvent) -> None:
        place = items.session_key(session.tenant, session.user_id, session.id)
        gone = dynamo.delete(self._table, place, dynamo.PRESENT)
        dynamo.transact_if(self._client, [gone, *self._recorded(event)])


class DynamoFailureStore(DynamoAdapter):
    """Implements FailureStore."""

    def get(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = dynamo.get(self._client, self._table, items.failures_key(tenant, email, address))
        hour = dynamo.get(self._client, self._table, items.hour_key(tenant, email, now))
        if int(here.get("purge_at", 0)) <= epoch_seconds(now):
            here = {}
        last = here.get("last_at")
        return Failures(
            here=int(here.get("failures", 0)),
            last_at=datetime.fromisoformat(last) if last else None,
            everywhere=int(hour.get("failures", 0)),
        )

    def add(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = self._count(items.failures_key(tenant, email, address), now)
        everywhere = self._count(items.hour_key(tenant, email, now), now)
        return Failures(here=here, last_at=now, everywhere=everywhere)

    def _count(self, key: dynamo.Item, now: datetime) -> int:
        """Count one more failure, or the first one after the former ones have ended."""
        values = {
            ":now": to_iso(now),
            ":present": epoch_seconds(now),
            ":purge": epoch_seconds(now + _KEPT),
            ":one": 1,
        }
        for update, condition in ((_COUNT, _COUNTS), (_BEGIN, _ENDED), (_COUNT, _COUNTS)):
            row = dynamo.update_if(self._client, self._table, key, update, values, condition)
            if row is not None:
                return int(row["failures"])
        raise DependencyUnavailable("dynamodb", "the failures are changing")

    def clear(self, tenant: str, email: str, address: str) -> None:
        key = items.failures_key(tenant, email, address)
        dynamo.delete_item(self._client, self._table, key)

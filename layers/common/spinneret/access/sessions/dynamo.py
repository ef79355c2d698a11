"""Sessions and failed sign-ins on DynamoDB.

Tenancy table
    pk `T#<tenant>#SESSIONS#<user id>`, sk `<session id>`          the session
    pk `T#<tenant>#FAILURES#<hash of address>`, sk `FROM#<ip>`      failures from one address
    pk `T#<tenant>#FAILURES#<hash of address>`, sk `HOUR#<hour>`    failures from all addresses
"""

from datetime import datetime, timedelta
from typing import Any, Final, cast

from spinneret.access.sessions import items
from spinneret.access.sessions.models import Failures, Session
from spinneret.access.trail.dynamo import Recorded
from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import epoch_seconds, to_iso
from spinneret.outbox.models import DomainEvent

_KEPT: Final = timedelta(hours=2)  # failures count for an hour at most
_COUNT: Final = "SET #last_at = :now, #purge_at = :purge ADD #failures :one"
_ROTATE: Final = "SET #token_hash = :new, #former_hash = :old, #rotated_at = :now"
_EXISTS: Final[dynamo.Condition] = ("attribute_exists(#pk)", {})
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
        answer = dynamo.write_or_standing(
            self._client.update_item,
            TableName=self._table,
            Key=items.session_key(session.tenant, session.user_id, session.id),
            UpdateExpression=_ROTATE,
            ConditionExpression=_IN_FORCE,
            ExpressionAttributeNames=dynamo.names_in(f"{_ROTATE} {_IN_FORCE}"),
            ExpressionAttributeValues={
                ":new": token_hash,
                ":old": session.token_hash,
                ":now": to_iso(now),
            },
            ReturnValues="ALL_NEW",
        )
        item = answer.item if isinstance(answer, dynamo.Standing) else answer["Attributes"]
        return items.SESSIONS.decode(item) if item else None

    def remove(self, session: Session, event: DomainEvent) -> None:
        place = items.session_key(session.tenant, session.user_id, session.id)
        gone = dynamo.delete(self._table, place, _EXISTS)
        dynamo.transact_if(self._client, [gone, *self._recorded(event)])


class DynamoFailureStore(DynamoAdapter):
    """Implements FailureStore."""

    def get(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        here = dynamo.get(self._client, self._table, items.failures_key(tenant, email, address))
        hour = dynamo.get(self._client, self._table, items.hour_key(tenant, email, now))
        last = here.get("last_at")
        return Failures(
            here=int(here.get("failures", 0)),
            last_at=datetime.fromisoformat(last) if last else None,
            everywhere=int(hour.get("failures", 0)),
        )

    def add(self, tenant: str, email: str, address: str, now: datetime) -> Failures:
        counts = []
        values: dict[str, Any] = {
            ":now": to_iso(now),
            ":purge": epoch_seconds(now + _KEPT),
            ":one": 1,
        }
        for key in (
            items.failures_key(tenant, email, address),
            items.hour_key(tenant, email, now),
        ):
            with translate_aws_errors("dynamodb"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key,
                    UpdateExpression=_COUNT,
                    ExpressionAttributeNames=dynamo.names_in(_COUNT),
                    ExpressionAttributeValues=values,
                    ReturnValues="UPDATED_NEW",
                )
            counts.append(int(cast(Any, answer["Attributes"]["failures"])))
        return Failures(here=counts[0], last_at=now, everywhere=counts[1])

    def clear(self, tenant: str, email: str, address: str) -> None:
        with translate_aws_errors("dynamodb"):
            self._client.delete_item(
                TableName=self._table, Key=items.failures_key(tenant, email, address)
            )

"""Targets on DynamoDB, in the table Targets.

    pk `T#<tenant>#TARGET#<id>`, sk `TARGET`      what its owner chose
    pk `T#<tenant>#TARGET#<id>`, sk `STATE`       how it is; in the index `due` while it isn't
                                                  paused (`due_shard`, `due_at`), with tenant, id
                                                  and host: read by every tick
    pk `T#<tenant>#TARGETS`, sk `<time>#<id>`     the list of all targets
    pk `T#<tenant>#HOST#<host>`, sk `<time>#<id>` the list of one host's
    pk `T#<tenant>#PUBLIC`, sk `<time>#<id>`      those of the status page
    pk `T#<tenant>#COUNT`, sk `TARGETS`           how many targets it has
    pk `T#<tenant>#URL#<hash>`, sk `URL`          which target has a canonical URL
    pk `T#<tenant>#KEY#<scope>`, sk `KEY`         answers to requests with an Idempotency-Key
    pk `T#<tenant>#INCIDENTS#<id>`, sk `<time>#<id>`, `T#<tenant>#WINDOWS`, `T#<tenant>#PAGE`,
    `SLUG#<slug>`, `SLOT#<number>`, `HOSTSLOT#<host>`: see incidents, windows, status_page, slots

The condition of every write is what was read: the owner's `version`, the state's `sequence`, which
an owner's change raises too. So a check that was under way when its target was changed, paused or
deleted is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.monitoring.targets import items
from spinneret.monitoring.targets.models import KeyRecord, Target, TargetState, Watched
from spinneret.monitoring.targets.ports import KeyTaken, TooMany, UrlTaken

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})
_TRIES: Final = 8  # in vain while others count: two and a half seconds at most
_ROWS: Final = ("TARGET", "STATE")


class DynamoTargetStore:
    """Implements TargetStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def add(
        self, watched: Watched, record: KeyRecord | None, most: int = bounds.TARGETS_PER_TENANT
    ) -> UrlTaken | KeyTaken | TooMany | None:
        """See TargetStore."""
        target = watched.target
        writes = [
            dynamo.put(self._table, {**items.url_key(target), "target_id": target.id}, _NEW),
            dynamo.put(self._table, items.target_item(target), _NEW),
            dynamo.put(self._table, items.state_item(target, watched.state), _NEW),
            *(dynamo.put(self._table, key) for key in self._places(target)),
        ]
        count = len(writes)
        free = "attribute_not_exists(#targets) OR #targets < :most"
        writes.append(self._counted(target.tenant, 1, (free, {":most": most})))
        if record is not None:
            writes.append(self._put_record(record))
        try:
            dynamo.transact(self._client, writes, _TRIES)
        except dynamo.ConditionFailed as error:
            if record is not None and (item := error.standing.get(len(writes) - 1)):
                return KeyTaken(items.record_of(record.tenant, record.scope, item))
            if item := error.standing.get(0):
                return UrlTaken(item["target_id"])
            if count in error.standing:
                return TooMany()
            raise
        return None

    def keep_answer(self, record: KeyRecord) -> KeyRecord:
        """See TargetStore."""
        try:
            dynamo.transact(self._client, [self._put_record(record)])
        except dynamo.ConditionFailed as error:
            return items.record_of(record.tenant, record.scope, error.standing[0])
        return record

    def answer_of(self, tenant: str, scope: str, now: datetime) -> KeyRecord | None:
        """See TargetStore."""
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=items.record_key(tenant, scope), ConsistentRead=True
            )
        item: Any = answer.get("Item")
        if item is None or int(item["purge_at"]) <= epoch_seconds(now):
            return None
        return items.record_of(tenant, scope, item)

    def get(self, tenant: str, target_id: str) -> Watched | None:
        """See TargetStore."""
        if not is_id(target_id):
            return None
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": items.target_key(tenant, target_id)["pk"]},
                ConsistentRead=True,
            )
        rows: dict[Any, Any] = {item["sk"]: item for item in answer["Items"]}
        if not all(name in rows for name in _ROWS):
            return None
        return _watched(tenant, target_id, rows["TARGET"], rows["STATE"])

    def get_many(self, tenant: str, target_ids: Sequence[str]) -> list[Watched]:
        """See TargetStore."""
        keys = [
            key(tenant, target_id)
            for target_id in target_ids
            for key in (items.target_key, items.state_key)
        ]
        rows = dynamo.batch_get(self._client, self._table, keys)
        found = {(str(item["pk"]), str(item["sk"])): item for item in rows}
        made = []
        for target_id in target_ids:
            pk = items.target_key(tenant, target_id)["pk"]
            if (pk, "TARGET") in found and (pk, "STATE") in found:
                both = found[pk, "TARGET"], found[pk, "STATE"]
                made.append(_watched(tenant, target_id, *both))
        return made

    def page(self, tenant: str, host: str | None, after: str | None, limit: int) -> Page[Watched]:
        """See TargetStore."""
        places = self._listed(items.list_partition(tenant, host), after, limit + 1)
        shown = places[:limit]
        ids = [place.partition("#")[2] for place in shown]
        more = len(places) > limit
        return Page(items=tuple(self.get_many(tenant, ids)), after=shown[-1] if more else None)

    def public(self, tenant: str, limit: int) -> list[str]:
        """See TargetStore."""
        places = self._listed(f"T#{tenant}#PUBLIC", None, limit)
        return [place.partition("#")[2] for place in places]

    def change(self, former: Watched, target: Target, state: TargetState) -> bool:
        """See TargetStore."""
        unchanged = dynamo.equals(version=former.target.version)
        state_put = items.state_item(target, state)
        writes = [
            dynamo.put(self._table, items.target_item(target), unchanged),
            dynamo.put(self._table, state_put, as_read(former.state)),
        ]
        if former.target.options.public and not target.options.public:
            writes.append(self._delete(items.public_key(target)))
        elif target.options.public:
            writes.append(dynamo.put(self._table, items.public_key(target)))
        return self._written(writes)

    def remove(self, watched: Watched) -> bool:
        """See TargetStore."""
        target, state = watched.target, watched.state
        key, state_key = (make(target.tenant, target.id) for make in _KEYS)
        places = [*self._places(target), items.url_key(target)]
        return self._written(
            [
                dynamo.delete(self._table, key, dynamo.equals(version=target.version)),
                dynamo.delete(self._table, state_key, as_read(state)),
                *(self._delete(place) for place in places),
                self._counted(target.tenant, -1, ("attribute_exists(#targets)", {})),
            ],
            _TRIES,
        )

    def _written(
        self, writes: list[TransactWriteItemTypeDef], tries: int = dynamo.TRIES_MAX
    ) -> bool:
        try:
            dynamo.transact(self._client, writes, tries)
        except dynamo.ConditionFailed:
            return False
        return True

    def _listed(self, partition: str, after: str | None, limit: int) -> list[str]:
        """Up to `limit` positions of a list behind `after`."""
        condition, values = "pk = :pk", {":pk": partition}
        if after is not None:
            condition += " AND sk > :after"
            values[":after"] = after
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression=condition,
                ExpressionAttributeValues=values,
                ConsistentRead=True,
                Limit=limit,
            )
        return [str(item["sk"]) for item in answer["Items"]]

    def _places(self, target: Target) -> list[dict[str, Any]]:
        public = [items.public_key(target)] if target.options.public else []
        return [*items.listed_keys(target), *public]

    def _counted(
        self, tenant: str, by: int, condition: dynamo.Condition
    ) -> TransactWriteItemTypeDef:
        """All targets of a tenant are made and removed over this one row."""
        added: dynamo.Condition = ("ADD #targets :by", {":by": by})
        return dynamo.change(self._table, items.count_key(tenant), added, condition)

    def _put_record(self, record: KeyRecord) -> TransactWriteItemTypeDef:
        """New, or over an answer whose time is over and that nobody has purged."""
        condition = "attribute_not_exists(#pk) OR #purge_at <= :now"
        values = {":now": epoch_seconds(record.created_at)}
        return dynamo.put(self._table, items.record_item(record), (condition, values))

    def _delete(self, key: dict[str, Any]) -> TransactWriteItemTypeDef:
        return {"Delete": {"TableName": self._table, "Key": key}}


_KEYS: Final = (items.target_key, items.state_key)


def _watched(tenant: str, target_id: str, target: Any, state: Any) -> Watched:
    return Watched(target=items.target_of(tenant, target_id, target), state=items.state_of(state))


def as_read(state: TargetState) -> dynamo.Condition:
    """The state is as it was read."""
    return dynamo.equals(sequence=state.sequence)

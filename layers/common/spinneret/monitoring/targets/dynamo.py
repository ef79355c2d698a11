"""Targets on DynamoDB, in the table Targets.

    pk `T#<tenant>#TARGET#<id>`, sk `TARGET`      the owner's options
    pk `T#<tenant>#TARGET#<id>`, sk `STATE`       the state; in the index `due` unless
                                                  paused (`due_shard`, `due_at`), with tenant, id
                                                  and host: read by every tick
    pk `T#<tenant>#TARGETS`, sk `<time>#<id>`     the list of all targets
    pk `T#<tenant>#HOST#<host>`, sk `<time>#<id>` the list of one host's
    pk `T#<tenant>#PUBLIC`, sk `<time>#<id>`      the public ones, for the status page
    pk `T#<tenant>#COUNT`, sk `TARGETS`           the number of targets
    pk `T#<tenant>#URL#<hash>`, sk `URL`          the target of a canonical URL
    pk `CALL#<hash>`, sk `CALL`                   the target of a heartbeat's token: read for
                                                  callers without a key
    pk `T#<tenant>#KEY#<scope>`, sk `KEY`         responses to requests with an Idempotency-Key
    pk `T#<tenant>#IMPORT#<job>`                  see imports
    pk `T#<tenant>#INCIDENTS#<id>`, sk `<time>#<id>`, `T#<tenant>#WINDOWS`, `T#<tenant>#PAGE`,
    `SLUG#<slug>`, `SLOT#<number>`, `HOSTSLOT#<host>`: see incidents, windows, status_page, slots

Every write requires the `version` of the options or the `sequence` of the state that was read; an
owner's change increments both. So the write of a running check fails if its target was changed,
paused or deleted meanwhile.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from itertools import batched
from typing import Any, Final

from spinneret.aws import dynamo, reads
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import page_of
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.monitoring import limits
from spinneret.monitoring.incidents.dynamo import incident_write
from spinneret.monitoring.incidents.items import incident_key
from spinneret.monitoring.incidents.models import IncidentChange
from spinneret.monitoring.targets import items
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Target,
    TargetState,
    TargetWithState,
)
from spinneret.monitoring.targets.ports import KeyTaken, TooMany, UrlTaken

TARGETS_PER_READ: Final = 50  # two rows each; BatchGetItem takes 100 keys
READS_AT_ONCE: Final = 8  # half of a client's connections
WRITE_TRIES: Final = 8  # others change the counter meanwhile: at most 2.5 seconds


class DynamoTargetStore(DynamoAdapter):
    """Implements TargetStore."""

    def add(
        self,
        watched: TargetWithState,
        record: IdempotencyRecord | None,
        most: int = limits.TARGETS_PER_TENANT,
    ) -> UrlTaken | KeyTaken | TooMany | None:
        writes = target_writes(self._table, watched)
        count = len(writes)
        writes.append(count_write(self._table, watched.target.tenant, 1, most))
        if record is not None:
            writes.append(self._put_record(record))
        try:
            dynamo.transact(self._client, writes, WRITE_TRIES)
        except dynamo.ConditionFailed as error:
            if record is not None and (item := error.standing.get(len(writes) - 1)):
                return KeyTaken(items.RECORDS.decode(item))
            if item := error.standing.get(0):
                return UrlTaken(item["target_id"])
            if count in error.standing:
                return TooMany()
            raise
        return None

    def keep_answer(self, record: IdempotencyRecord) -> IdempotencyRecord:
        try:
            dynamo.transact(self._client, [self._put_record(record)])
        except dynamo.ConditionFailed as error:
            return items.RECORDS.decode(error.standing[0])
        return record

    def answer_of(self, tenant: str, scope: str, now: datetime) -> IdempotencyRecord | None:
        item = dynamo.get(self._client, self._table, items.record_key(tenant, scope))
        if not item or int(item["purge_at"]) <= epoch_seconds(now):
            return None
        return items.RECORDS.decode(item)

    def get(self, tenant: str, target_id: str) -> TargetWithState | None:
        if not is_id(target_id):
            return None
        return next(iter(self.get_many(tenant, [target_id])), None)

    def called(self, call_hash: str) -> TargetWithState | None:
        item = dynamo.get(self._client, self._table, items.call_key(call_hash))
        found = self.get(str(item["tenant"]), str(item["target_id"])) if item else None
        return found if found is not None and found.target.call_hash == call_hash else None

    def get_many(self, tenant: str, target_ids: Sequence[str]) -> list[TargetWithState]:
        return self._get(tenant, target_ids, consistent=True)

    def _get(
        self, tenant: str, target_ids: Sequence[str], *, consistent: bool
    ) -> list[TargetWithState]:
        keys = [
            key(tenant, target_id)
            for target_id in target_ids
            for key in (items.target_key, items.state_key)
        ]
        rows = dynamo.batch_get(self._client, self._table, keys, consistent=consistent)
        found = {(str(item["pk"]), str(item["sk"])): item for item in rows}
        made = []
        for target_id in target_ids:
            pk = items.target_key(tenant, target_id)["pk"]
            if (pk, "TARGET") in found and (pk, "STATE") in found:
                made.append(_watched(found[pk, "TARGET"], found[pk, "STATE"]))
        return made

    def number(self, tenant: str) -> int:
        return int(dynamo.get(self._client, self._table, items.count_key(tenant)).get("targets", 0))

    def page(
        self, tenant: str, host: str | None, after: str | None, limit: int
    ) -> Page[TargetWithState]:
        partition = items.list_partition(tenant, host)
        listed = page_of(self._client, self._table, partition, after, limit)
        found = self.get_many(tenant, [_id_listed(row) for row in listed.items])
        return Page(items=tuple(found), after=listed.after)

    def all(self, tenant: str, limit: int) -> list[TargetWithState]:
        """See TargetStore. One read lists up to 1 MB of ids, one gets TARGETS_PER_READ targets."""
        values = {":pk": items.list_partition(tenant, None)}
        rows = reads.query(self._client, self._table, "pk = :pk", values, limit)
        ids = [_id_listed(row) for row in rows]
        some = [list(each) for each in batched(ids, TARGETS_PER_READ)]
        with ThreadPoolExecutor(READS_AT_ONCE) as pool:
            found = pool.map(partial(self._get, tenant, consistent=False), some)
            return [each for targets in found for each in targets]

    def public(self, tenant: str, limit: int) -> list[str]:
        listed = page_of(self._client, self._table, f"T#{tenant}#PUBLIC", None, limit)
        return [_id_listed(row) for row in listed.items]

    def change(
        self,
        former: TargetWithState,
        target: Target,
        state: TargetState,
        incident: IncidentChange | None = None,
    ) -> bool:
        unchanged = dynamo.equals(version=former.target.version)
        state_put = items.state_item(target, state)
        writes = [
            dynamo.put(self._table, items.TARGETS.encode(target), unchanged),
            dynamo.put(self._table, state_put, as_read(former.state)),
        ]
        if former.target.options.public and not target.options.public:
            writes.append(self._delete(items.public_key(target)))
        elif target.options.public:
            writes.append(dynamo.put(self._table, items.public_key(target)))
        if former.target.call_hash != target.call_hash:
            writes += self._call_writes(former.target.call_hash, target)
        if incident is not None:
            writes.append(incident_write(self._table, target.tenant, target.id, incident))
        return dynamo.transact_if(self._client, writes)

    def _call_writes(self, former: str | None, target: Target) -> list[TransactWriteItemTypeDef]:
        """Build the writes that replace the token of a heartbeat."""
        writes = [] if former is None else [self._delete(items.call_key(former))]
        if target.call_hash is not None:
            named = {"tenant": target.tenant, "target_id": target.id}
            writes.append(dynamo.put(self._table, {**items.call_key(target.call_hash), **named}))
        return writes

    def remove(self, watched: TargetWithState) -> bool:
        target, state = watched.target, watched.state
        key, state_key = (make(target.tenant, target.id) for make in _KEYS)
        places = [*_places(target), items.url_key(target.tenant, target.canonical_url)]
        if target.call_hash is not None:
            places.append(items.call_key(target.call_hash))
        if (open_one := state.incident) is not None:  # it has no expiry yet
            names = target.tenant, target.id
            places.append(incident_key(*names, open_one.started_at, open_one.id))
        return dynamo.transact_if(
            self._client,
            [
                dynamo.delete(self._table, key, dynamo.equals(version=target.version)),
                dynamo.delete(self._table, state_key, as_read(state)),
                *(self._delete(place) for place in places),
                count_write(self._table, target.tenant, -1),
            ],
            WRITE_TRIES,
        )

    def _put_record(self, record: IdempotencyRecord) -> TransactWriteItemTypeDef:
        """Build the write of a record, which may replace an expired one that still exists."""
        condition = "attribute_not_exists(#pk) OR #purge_at <= :now"
        values = {":now": epoch_seconds(record.created_at)}
        return dynamo.put(self._table, items.RECORDS.encode(record), (condition, values))

    def _delete(self, key: dict[str, Any]) -> TransactWriteItemTypeDef:
        return {"Delete": {"TableName": self._table, "Key": key}}


def target_writes(table: str, watched: TargetWithState) -> list[TransactWriteItemTypeDef]:
    """Build the writes of a new target, without its count; the first fails for a taken URL."""
    target = watched.target
    url = items.url_key(target.tenant, target.canonical_url)
    return [
        dynamo.put(table, {**url, "target_id": target.id}, dynamo.ABSENT),
        dynamo.put(table, items.TARGETS.encode(target), dynamo.ABSENT),
        dynamo.put(table, items.state_item(target, watched.state), dynamo.ABSENT),
        *(dynamo.put(table, key) for key in _places(target)),
    ]


def count_write(
    table: str, tenant: str, by: int, most: int | None = None
) -> TransactWriteItemTypeDef:
    """Build the write that counts new targets, up to `most` in all, or a removed one.

    All creations and removals of a tenant's targets update this one row.
    """
    added: dynamo.Condition = ("ADD #targets :by", {":by": by})
    condition: dynamo.Condition = ("attribute_exists(#targets)", {})
    if most is not None:
        is_free = "attribute_not_exists(#targets) OR #targets <= :before"
        condition = (is_free, {":before": most - by})
    return dynamo.change(table, items.count_key(tenant), added, condition)


def _places(target: Target) -> list[dict[str, Any]]:
    public = [items.public_key(target)] if target.options.public else []
    return [*items.listed_keys(target), *public]


_KEYS: Final = (items.target_key, items.state_key)


def _id_listed(row: Item) -> str:
    return str(row["sk"]).partition("#")[2]


def _watched(target: Item, state: Item) -> TargetWithState:
    return TargetWithState(target=items.TARGETS.decode(target), state=items.state_of(state))


def as_read(state: TargetState) -> dynamo.Condition:
    """Return the condition that the state hasn't changed since it was read."""
    return dynamo.equals(sequence=state.sequence)

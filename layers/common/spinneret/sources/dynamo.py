"""Sources on DynamoDB, in the table CrawlDefinitions.

    pk `T#<tenant>#SOURCES`, sk `<id>`               a source; lists by partition, in the order of
                                                     ids, which is by time
    pk `T#<tenant>#SOURCE#<id>#RUNS`, sk `<run id>`  a run
    pk `T#<tenant>#RUN#<run id>`, sk `PAGES#<nnn>`   up to SOURCE_PAGES_PER_ROW pages of a run

Index `due`: `due_shard` `DUE#<n>`, `due_at`: sources to process, by time; read by the pass of every
minute.

A source and its current run are written together, on condition that the source's version is
unchanged. References to config and collection are counted in the same transaction
(aws.named_rows). Runs and pages have `purge_at` (epoch seconds), DynamoDB's TTL attribute.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.named_rows import NamedItemTable
from spinneret.aws.reads import due_items
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.errors import NotFound
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.kernel.sharding import shard_of
from spinneret.outbox.dynamo import event_write
from spinneret.outbox.models import DomainEvent
from spinneret.sources import limits, rules
from spinneret.sources.models import PageOutcome, Run, RunPage, Source, SourceRef

_SIZE: Final = limits.SOURCE_PAGES_PER_ROW


class DynamoSourceStore(DynamoAdapter):
    """Implements SourceStore."""

    def __init__(
        self, client: DynamoDBClient, table: str, labels_table: str, events_table: str
    ) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, SOURCES)
        self._runs = Table(client, table, RUNS)
        self._events = events_table
        self._configs = NamedItemTable(client, table, "config")
        self._collections = NamedItemTable(client, labels_table, "collection")

    def add(self, source: Source) -> None:
        self._write([self._rows.put_write(source, dynamo.ABSENT)], None, source)

    def get(self, tenant: str, source_id: str) -> Source | None:
        return self._rows.get(_key(tenant, source_id)) if is_id(source_id) else None

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        return self._rows.page(_sources(tenant), after, limit, newest_first=True)

    def replace(
        self,
        former: Source,
        source: Source,
        run: Run | None = None,
        event: DomainEvent | None = None,
    ) -> bool:
        unchanged = dynamo.equals(version=former.version)
        writes = [self._rows.put_write(source, unchanged)]
        if run is not None:
            writes.append(self._runs.put_write(run))
        if event is not None:
            writes.append(event_write(self._events, event))
        return self._write(writes, former, source)

    def remove(self, source: Source) -> bool:
        unchanged = dynamo.equals(version=source.version)
        gone = dynamo.delete(self._table, SOURCES.key(source), unchanged)
        return self._write([gone], source, None)

    def due(self, until: datetime, limit: int) -> list[SourceRef]:
        """See SourceStore. One query for each shard."""
        shards = map(_shard, range(limits.SOURCE_SHARDS))
        return [*map(_ref, due_items(self._client, self._table, shards, until, limit))]

    def run(self, tenant: str, source_id: str, run_id: str) -> Run | None:
        if not is_id(run_id):
            return None
        return self._runs.get({"pk": _runs(tenant, source_id), "sk": run_id})

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        return self._runs.page(_runs(tenant, source_id), after, limit, newest_first=True)

    def keep_pages(self, run: Run, pages: Sequence[RunPage], now: datetime) -> None:
        rows = [pages[start : start + _SIZE] for start in range(0, len(pages), _SIZE)]
        puts = [
            dynamo.put(
                self._table,
                {
                    "pk": _pages(run.tenant, run.id),
                    "sk": f"PAGES#{number:03d}",
                    "pages": json.dumps([asdict(each) for each in some], ensure_ascii=False),
                    "purge_at": _purge_at(now),
                },
            )
            for number, some in enumerate(rows)
        ]
        if puts:
            dynamo.transact(self._client, puts)

    def pages(self, tenant: str, run_id: str) -> tuple[RunPage, ...]:
        if not is_id(run_id):
            return ()
        keys = [
            {"pk": _pages(tenant, run_id), "sk": f"PAGES#{number:03d}"}
            for number in range(-(-limits.SOURCE_PAGES_MAX // _SIZE))
        ]
        rows = {row["sk"]: row for row in dynamo.batch_get(self._client, self._table, keys)}
        return tuple(
            RunPage(**{**each, "outcome": PageOutcome(each["outcome"])})
            for key in sorted(rows)
            for each in json.loads(rows[key]["pages"])
        )

    def _write(
        self, writes: list[TransactWriteItemTypeDef], former: Source | None, source: Source | None
    ) -> bool:
        """Write all; return False if the source, which is the first write, has changed."""
        referred: dict[int, str] = {}
        rows = {"crawl_config_id": self._configs, "collection_id": self._collections}
        for name, kept in rows.items():
            before, after = getattr(former, name, None), getattr(source, name, None)
            if before == after:
                continue
            tenant = (source or former).tenant  # type: ignore[union-attr]  # one of them is given
            if after is not None:
                referred[len(writes)] = name
                writes += kept.reference_writes(tenant, after)
            if before is not None:
                writes += kept.unrefer(tenant, before)
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            missing = [name for place, name in referred.items() if place in failed.standing]
            if missing and 0 not in failed.standing:
                message = f"no such {rules.referred(missing[0])}"
                raise NotFound.of_field(missing[0], message) from failed
            return False
        return True


def _sources(tenant: str) -> str:
    return f"T#{tenant}#SOURCES"


def _runs(tenant: str, source_id: str) -> str:
    return f"T#{tenant}#SOURCE#{source_id}#RUNS"


def _pages(tenant: str, run_id: str) -> str:
    return f"T#{tenant}#RUN#{run_id}"


def _shard(number: int) -> str:
    return f"DUE#{number}"


def _key(tenant: str, source_id: str) -> Item:
    return {"pk": _sources(tenant), "sk": source_id}


def _ref(item: Item) -> SourceRef:
    return SourceRef(tenant=tenant_of(item), source_id=item["sk"])


def _purge_at(now: datetime) -> int:
    return epoch_seconds(now) + limits.SOURCE_RUN_SECONDS


def _due_shard(source: Source) -> Item:
    if source.due_at is None:
        return {}
    return {"due_shard": _shard(shard_of(source.id, limits.SOURCE_SHARDS))}


def _run_key(item: Item) -> Item:
    return {"tenant": tenant_of(item), "source_id": item["pk"].split("#")[3], "id": item["sk"]}


SOURCES: Final = Codec(
    Source,
    key=lambda source: _key(source.tenant, source.id),
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
    derived=_due_shard,
)

_JSON: Final = Column(encode=json.dumps, decode=json.loads)

RUNS: Final = Codec(
    Run,
    key=lambda run: {"pk": _runs(run.tenant, run.source_id), "sk": run.id},
    keyed=("tenant", "source_id", "id"),
    from_key=_run_key,
    columns={"refused": _JSON, "counts": _JSON},
    derived=lambda run: {"purge_at": _purge_at(run.finished_at or run.started_at)},
)

"""Sources on DynamoDB, in the table Plans.

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

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.named_rows import NamedItemTable
from spinneret.aws.reads import items, page_of
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)
from spinneret.kernel.errors import NotFound
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.kernel.sharding import shard_of
from spinneret.outbox.dynamo import event_write
from spinneret.outbox.models import DomainEvent
from spinneret.sources import limits
from spinneret.sources.models import PageOutcome, Run, RunPage, RunStage, Source, SourceRef, Trigger

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})
_SIZE: Final = limits.SOURCE_PAGES_PER_ROW
_DATES: Final = ("created_at", "updated_at", "scheduled_from")
_OPTIONAL: Final = (
    "crawl_config_id",
    "collection_id",
    "schedule_cron",
    "run_id",
    "last_run_id",
)
_OPTIONAL_DATES: Final = ("due_at", "last_crawled_at")


class DynamoSourceStore:
    """Implements SourceStore."""

    def __init__(
        self, client: DynamoDBClient, table: str, labels_table: str, events_table: str
    ) -> None:
        self._client = client
        self._table = table
        self._events = events_table
        self._configs = NamedItemTable(client, table, "config")
        self._collections = NamedItemTable(client, labels_table, "collection")

    def add(self, source: Source) -> None:
        """See SourceStore."""
        self._write([dynamo.put(self._table, _item(source), _NEW)], None, source)

    def get(self, tenant: str, source_id: str) -> Source | None:
        """See SourceStore."""
        item = self._get(_sources(tenant), source_id)
        return None if item is None else _source(tenant, item)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        """See SourceStore."""
        page = page_of(self._client, self._table, _sources(tenant), after, limit, newest_first=True)
        return Page(items=tuple(_source(tenant, item) for item in page.items), after=page.after)

    def replace(
        self,
        former: Source,
        source: Source,
        run: Run | None = None,
        event: DomainEvent | None = None,
    ) -> bool:
        """See SourceStore."""
        unchanged = dynamo.equals(version=former.version)
        writes = [dynamo.put(self._table, _item(source), unchanged)]
        if run is not None:
            writes.append(dynamo.put(self._table, _run_item(run)))
        if event is not None:
            writes.append(event_write(self._events, event))
        return self._write(writes, former, source)

    def remove(self, source: Source) -> bool:
        """See SourceStore."""
        key = {"pk": _sources(source.tenant), "sk": source.id}
        unchanged = dynamo.equals(version=source.version)
        return self._write([dynamo.delete(self._table, key, unchanged)], source, None)

    def due(self, until: datetime, limit: int) -> list[SourceRef]:
        """See SourceStore. One query for each shard."""
        found: list[SourceRef] = []
        for shard in range(limits.SOURCE_SHARDS):
            request = {
                "TableName": self._table,
                "IndexName": "due",
                "KeyConditionExpression": "due_shard = :shard AND due_at <= :until",
                "ExpressionAttributeValues": {":shard": _shard(shard), ":until": to_iso(until)},
            }
            found += [_ref(item) for item in items(self._client.query, request, limit)]
        return found

    def run(self, tenant: str, source_id: str, run_id: str) -> Run | None:
        """See SourceStore."""
        item = self._get(_runs(tenant, source_id), run_id)
        return None if item is None else _run(tenant, source_id, item)

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        """See SourceStore."""
        page = page_of(
            self._client, self._table, _runs(tenant, source_id), after, limit, newest_first=True
        )
        return Page(
            items=tuple(_run(tenant, source_id, item) for item in page.items), after=page.after
        )

    def keep_pages(self, run: Run, pages: Sequence[RunPage], now: datetime) -> None:
        """See SourceStore."""
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
        """See SourceStore."""
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

    def _get(self, partition: str, sort: str) -> dict[str, Any] | None:
        if not is_id(sort):
            return None
        with translate_aws_errors("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key={"pk": partition, "sk": sort}, ConsistentRead=True
            )
        return answer.get("Item")

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
                raise NotFound("no such row", details={"field": missing[0]}) from failed
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


def _ref(item: Mapping[str, Any]) -> SourceRef:
    return SourceRef(tenant=item["pk"].split("#")[1], source_id=item["sk"])


def _purge_at(now: datetime) -> int:
    return epoch_seconds(now + timedelta(seconds=limits.SOURCE_RUN_SECONDS))


def _item(source: Source) -> dict[str, Any]:
    item = {
        **asdict(source),
        **{name: to_iso(getattr(source, name)) for name in _DATES},
        **{name: optional_stamp(getattr(source, name)) for name in _OPTIONAL_DATES},
        "pk": _sources(source.tenant),
        "sk": source.id,
    }
    if source.due_at is not None:
        item["due_shard"] = _shard(shard_of(source.id, limits.SOURCE_SHARDS))
    del item["tenant"], item["id"]
    return {name: value for name, value in item.items() if value is not None}


def _source(tenant: str, item: Mapping[str, Any]) -> Source:
    stored: dict[str, Any] = {name: parse_stamp(item[name]) for name in _DATES}
    stored |= {name: parse_optional_stamp(item.get(name)) for name in _OPTIONAL_DATES}
    stored |= {name: item.get(name) for name in _OPTIONAL}
    return Source(
        tenant=tenant,
        id=item["sk"],
        name=item["name"],
        url_pattern=item["url_pattern"],
        timezone=item["timezone"],
        is_active=item["is_active"],
        version=int(item["version"]),
        **stored,
    )


def _run_item(run: Run) -> dict[str, Any]:
    item = {
        "pk": _runs(run.tenant, run.source_id),
        "sk": run.id,
        "trigger": run.trigger.value,
        "stage": run.stage.value,
        "started_at": to_iso(run.started_at),
        "finished_at": optional_stamp(run.finished_at),
        "discovery_job_id": run.discovery_job_id,
        "batch_id": run.batch_id,
        "refused": json.dumps(dict(run.refused)),
        "counts": json.dumps(dict(run.counts)),
        "error": run.error,
        "purge_at": _purge_at(run.finished_at or run.started_at),
    }
    return {name: value for name, value in item.items() if value is not None}


def _run(tenant: str, source_id: str, item: Mapping[str, Any]) -> Run:
    return Run(
        tenant=tenant,
        source_id=source_id,
        id=item["sk"],
        trigger=Trigger(item["trigger"]),
        stage=RunStage(item["stage"]),
        started_at=parse_stamp(item["started_at"]),
        finished_at=parse_optional_stamp(item.get("finished_at")),
        discovery_job_id=item.get("discovery_job_id"),
        batch_id=item.get("batch_id"),
        refused=json.loads(item["refused"]),
        counts={PageOutcome(name): n for name, n in json.loads(item["counts"]).items()},
        error=item.get("error"),
    )

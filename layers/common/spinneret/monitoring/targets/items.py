"""Targets and their states as DynamoDB items, and back.

What nothing is asked by is JSON text: DynamoDB would turn its numbers into decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import epoch_seconds, parse_stamp, stamp
from spinneret.monitoring.targets import rules
from spinneret.monitoring.targets.models import KeyRecord, Options, Target, TargetState

Item = dict[str, Any]
DUE_INDEX = "due"


def target_key(tenant: str, target_id: str) -> Item:
    """The row of what its owner chose."""
    return {"pk": f"T#{tenant}#TARGET#{target_id}", "sk": "TARGET"}


def state_key(tenant: str, target_id: str) -> Item:
    """The row of how it is."""
    return {"pk": f"T#{tenant}#TARGET#{target_id}", "sk": "STATE"}


def url_key(target: Target) -> Item:
    """Which target has a canonical URL."""
    return {"pk": f"T#{target.tenant}#URL#{fingerprint(target.canonical_url)}", "sk": "URL"}


def listed_keys(target: Target) -> list[Item]:
    """Its places in the list of all targets and in that of its host's."""
    position = rules.position_of_target(target)
    return [
        {"pk": list_partition(target.tenant, None), "sk": position},
        {"pk": list_partition(target.tenant, target.host), "sk": position},
    ]


def list_partition(tenant: str, host: str | None) -> str:
    """The partition of a list."""
    return f"T#{tenant}#TARGETS" if host is None else f"T#{tenant}#HOST#{host}"


def count_key(tenant: str) -> Item:
    """How many targets a tenant has."""
    return {"pk": f"T#{tenant}#COUNT", "sk": "TARGETS"}


def public_key(target: Target) -> Item:
    """Its place on the status page."""
    position = rules.position_of_target(target)
    return {"pk": f"T#{target.tenant}#PUBLIC", "sk": position}


def record_key(tenant: str, scope: str) -> Item:
    """What a request with an Idempotency-Key was answered."""
    return {"pk": f"T#{tenant}#KEY#{scope}", "sk": "KEY"}


def target_item(target: Target) -> Item:
    """The row of a target."""
    return {
        **target_key(target.tenant, target.id),
        "url": target.url,
        "canonical_url": target.canonical_url,
        "host": target.host,
        "created_at": stamp(target.created_at),
        "updated_at": stamp(target.updated_at),
        "options": _options().dump_json(target.options).decode(),
        "paused": target.paused,
        "version": target.version,
    }


def target_of(tenant: str, target_id: str, item: Mapping[str, Any]) -> Target:
    """The inverse of `target_item`."""
    return Target(
        tenant=tenant,
        id=target_id,
        url=item["url"],
        canonical_url=item["canonical_url"],
        host=item["host"],
        created_at=parse_stamp(item["created_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        options=_options().validate_json(item["options"]),
        paused=item["paused"],
        version=int(item["version"]),
    )


def state_item(target: Target, state: TargetState) -> Item:
    """The row of a state, with the keys of the index `due` while the target isn't paused."""
    item = {
        **state_key(target.tenant, target.id),
        "sequence": state.sequence,
        "state": _state().dump_json(state).decode(),
    }
    if state.due_at is not None:
        item |= {
            "due_shard": due_shard(rules.due_shard_of(target.id)),
            "due_at": stamp(state.due_at),
            "tenant": target.tenant,
            "target_id": target.id,
            "host": target.host,
        }
    return item


def due_shard(number: int) -> str:
    """A partition of the index `due`."""
    return f"DUE#{number}"


def state_of(item: Mapping[str, Any]) -> TargetState:
    """The inverse of `state_item`."""
    return _state().validate_json(item["state"])


def record_item(record: KeyRecord) -> Item:
    """The row of an answer."""
    made = epoch_seconds(record.created_at)
    return {
        **record_key(record.tenant, record.scope),
        "payload": record.payload,
        "status": record.status,
        "target_id": record.target_id,
        "body": record.body,
        "created_at": stamp(record.created_at),
        "purge_at": made + bounds.IDEMPOTENCY_SECONDS,
    }


def record_of(tenant: str, scope: str, item: Mapping[str, Any]) -> KeyRecord:
    """The inverse of `record_item`."""
    return KeyRecord(
        tenant=tenant,
        scope=scope,
        payload=item["payload"],
        status=int(item["status"]),
        target_id=item["target_id"],
        body=item["body"],
        created_at=parse_stamp(item["created_at"]),
    )


@cache
def _options() -> TypeAdapter[Options]:
    return TypeAdapter(Options)


@cache
def _state() -> TypeAdapter[TargetState]:
    return TypeAdapter(TargetState)

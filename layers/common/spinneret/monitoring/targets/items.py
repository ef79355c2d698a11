"""Convert targets and their states to DynamoDB items and back.

Fields that no expression reads are JSON text, which preserves number types.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.aws.codec import JSON, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import epoch_seconds, parse_stamp, to_iso
from spinneret.kernel.typed_json import TypedJson
from spinneret.monitoring.targets import rules
from spinneret.monitoring.targets.models import IdempotencyRecord, Target, TargetState

DUE_INDEX: Final = "due"
_STATES: Final = TypedJson(TargetState)


def target_key(tenant: str, target_id: str) -> Item:
    """Return the key of the target's item."""
    return {"pk": f"T#{tenant}#TARGET#{target_id}", "sk": "TARGET"}


def state_key(tenant: str, target_id: str) -> Item:
    """Return the key of the state's item."""
    return {"pk": f"T#{tenant}#TARGET#{target_id}", "sk": "STATE"}


def url_key(tenant: str, canonical_url: str) -> Item:
    """Return the key of the item that maps a canonical URL to its target."""
    return {"pk": f"T#{tenant}#URL#{fingerprint(canonical_url)}", "sk": "URL"}


def listed_keys(target: Target) -> list[Item]:
    """Return the keys of the target in the lists of all targets and of its host."""
    position = rules.position_of_target(target)
    return [
        {"pk": list_partition(target.tenant, None), "sk": position},
        {"pk": list_partition(target.tenant, target.host), "sk": position},
    ]


def list_partition(tenant: str, host: str | None) -> str:
    """Return the partition key of a list: of one host, or of all targets."""
    return f"T#{tenant}#TARGETS" if host is None else f"T#{tenant}#HOST#{host}"


def count_key(tenant: str) -> Item:
    """Return the key of the tenant's target counter."""
    return {"pk": f"T#{tenant}#COUNT", "sk": "TARGETS"}


def call_key(call_hash: str) -> Item:
    """Return the key of the item that maps the token of a heartbeat to its target."""
    return {"pk": f"CALL#{call_hash}", "sk": "CALL"}


def public_key(target: Target) -> Item:
    """Return the key of the target in the list of public targets."""
    position = rules.position_of_target(target)
    return {"pk": f"T#{target.tenant}#PUBLIC", "sk": position}


def record_key(tenant: str, scope: str) -> Item:
    """Return the key of the record of an Idempotency-Key."""
    return {"pk": f"T#{tenant}#KEY#{scope}", "sk": "KEY"}


def state_item(target: Target, state: TargetState) -> Item:
    """Build the item of a state, with the keys of the index `due` unless the target is paused."""
    item = {
        **state_key(target.tenant, target.id),
        "sequence": state.sequence,
        "state": _STATES.dump(state),
    }
    if state.due_at is not None:
        item |= {
            "due_shard": due_shard(rules.due_shard_of(target.id)),
            "due_at": listed_text(state.due_at, rules.listed_interval(target)),
            "tenant": target.tenant,
            "target_id": target.id,
            "host": target.host,
        }
    return item


def listed_text(due_at: datetime, interval_seconds: int) -> str:
    """Return the sort key of the index `due`: a time and the interval."""
    return f"{to_iso(rules.listed_at(due_at, interval_seconds))}#{interval_seconds}"


def listed_of(text: str) -> tuple[datetime, int | None]:
    """Parse the sort key of the index `due`; earlier versions wrote no interval."""
    moment, _, seconds = text.partition("#")
    return parse_stamp(moment), int(seconds) if seconds else None


def behind_due(moment: datetime) -> str:
    """Return a sort key of the index `due` that follows all keys of this moment."""
    return f"{to_iso(moment)}$"


def due_shard(number: int) -> str:
    """Return the partition key of a shard of the index `due`."""
    return f"DUE#{number}"


def state_of(item: Mapping[str, Any]) -> TargetState:
    """Parse a state from its item."""
    return _STATES.load(item["state"])


def _purge_at(record: IdempotencyRecord) -> Item:
    return {"purge_at": epoch_seconds(record.created_at) + bounds.IDEMPOTENCY_SECONDS}


TARGETS: Final = Codec(
    Target,
    key=lambda target: target_key(target.tenant, target.id),
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["pk"].split("#")[3]},
    columns={"options": JSON},
)

RECORDS: Final = Codec(
    IdempotencyRecord,
    key=lambda record: record_key(record.tenant, record.scope),
    keyed=("tenant", "scope"),
    from_key=lambda item: {"tenant": tenant_of(item), "scope": item["pk"].split("#", 3)[3]},
    derived=_purge_at,
)

"""Host settings on DynamoDB.

Domains table
    pk `T#<tenant>#DOMAIN`, sk `<host>`       override, notes and block; settings of a host and of
                                              its parent hosts by BatchGetItem, lists by
                                              partition in the order of the names

Every write is one UpdateItem of its own attributes. A block exists if `blocked_at` exists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.codec import Codec, tenant_of, to_attribute
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, QueryInputTypeDef
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.web.hosts.models import HostBlock, HostSettings, Override


class DynamoHostStore(DynamoAdapter):
    """Implements HostStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, SETTINGS)

    def find(self, tenant: str, hosts: Sequence[str]) -> tuple[HostSettings, ...]:
        """See HostStore; reads consistently, so that a block applies at once."""
        return tuple(self._rows.batch_get([_key(tenant, host) for host in hosts]))

    def put(
        self, tenant: str, host: str, override: Override, notes: str | None, now: datetime
    ) -> HostSettings:
        changes = {**to_attribute(override), "notes": notes, "updated_at": to_iso(now)}
        return self._update(tenant, host, changes)

    def block(self, tenant: str, host: str, block: HostBlock) -> HostSettings:
        since = to_iso(block.since)
        changes = {"blocked_at": since, "blocked_reason": block.reason, "updated_at": since}
        return self._update(tenant, host, changes)

    def unblock(self, tenant: str, host: str, now: datetime) -> HostSettings | None:
        changes = {"blocked_at": None, "blocked_reason": None, "updated_at": to_iso(now)}
        update, values = _assignments(changes)
        condition = "attribute_exists(#blocked_at)"
        answer = dynamo.update_or_standing(
            self._client, self._table, _key(tenant, host), update, values, condition
        )
        row = answer.item if isinstance(answer, dynamo.Standing) else answer
        return SETTINGS.decode(row) if row else None

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> Page[HostSettings]:
        """See HostStore: at most LIST_READS queries of LIST_READ rows each."""
        found: list[HostSettings] = []
        last = after
        for _ in range(bounds.LIST_READS):
            matching, last = self._matching(tenant, blocked, last, limit + 1)
            found += matching
            if len(found) > limit or last is None:
                break
        if len(found) > limit:
            last = found[limit - 1].host
        return Page(items=tuple(found[:limit]), after=last)

    def _matching(
        self, tenant: str, blocked: bool | None, after: str | None, wanted: int
    ) -> tuple[list[HostSettings], str | None]:
        """Return the matching settings of one query, and the host after which to continue."""
        condition, values = "#pk = :pk", {":pk": _partition(tenant)}
        if after is not None:
            condition += " AND #sk > :after"
            values[":after"] = after
        query: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "Limit": wanted if blocked is None else bounds.LIST_READ,
        }
        if blocked is not None:
            function = "attribute_exists" if blocked else "attribute_not_exists"
            query["FilterExpression"] = f"{function}(#blocked_at)"
        spelled = f"{condition} {query.get('FilterExpression', '')}"
        query["ExpressionAttributeNames"] = dynamo.names_in(spelled)
        with translate_aws_errors("dynamodb"):
            answer = self._client.query(**query)
        last = answer.get("LastEvaluatedKey")
        settings = [SETTINGS.decode(item) for item in answer["Items"]]
        return settings, str(last["sk"]) if last else None

    def _update(self, tenant: str, host: str, changes: Mapping[str, Any]) -> HostSettings:
        update, values = _assignments(changes)
        row = dynamo.update_item(self._client, self._table, _key(tenant, host), update, values)
        return SETTINGS.decode(row)


def _assignments(changes: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Set each attribute, or remove it if the value is None; at least one must be set."""
    values = {name: to for name, to in changes.items() if to is not None}
    sets = [f"#{name} = :{name}" for name in values]
    removes = [f"#{name}" for name, to in changes.items() if to is None]
    update = f"SET {', '.join(sets)}" + (f" REMOVE {', '.join(removes)}" if removes else "")
    return update, {f":{name}": to for name, to in values.items()}


def _partition(tenant: str) -> str:
    return f"T#{tenant}#DOMAIN"


def _key(tenant: str, host: str) -> Item:
    return {"pk": _partition(tenant), "sk": host}


def _from_item(item: Item) -> Item:
    """Return the fields that aren't attributes of their own."""
    block = None
    if "blocked_at" in item:
        block = {"reason": item["blocked_reason"], "since": item["blocked_at"]}
    override = {name: item[name] for name in _OVERRIDE if name in item}
    return {"tenant": tenant_of(item), "host": item["sk"], "override": override, "block": block}


_OVERRIDE: Final = [each.name for each in fields(Override)]

SETTINGS: Final = Codec(
    HostSettings,
    key=lambda settings: _key(settings.tenant, settings.host),
    keyed=("tenant", "host", "override", "block"),
    from_key=_from_item,
)

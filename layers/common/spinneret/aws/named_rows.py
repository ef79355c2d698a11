"""Rows of a tenant that have a name of their own, on DynamoDB.

    pk `T#<tenant>#<KIND>S`, sk `<id>`           a row; lists by partition, in the order of ids,
                                                 which is by time
    pk `T#<tenant>#<KIND>NAMES`, sk `<name>`     which row has the name

Row and name are written in one transaction, whose condition is the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})
_KEPT: Final = ("pk", "sk", "name", "version")


@dataclass(frozen=True, kw_only=True)
class NamedRow:
    """One row; `attributes` are the rest of it, as DynamoDB has them."""

    tenant: str
    id: str
    name: str
    version: int
    attributes: Mapping[str, Any]


class NamedRows:
    """The rows of one kind. All methods raise DependencyUnavailable.

    `kind` is what a refusal calls a row. `word` and `words` stand for it in keys, where it isn't
    one word or its plural is no `s` more.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        kind: str,
        *,
        word: str | None = None,
        words: str | None = None,
    ) -> None:
        self._client = client
        self._table = table
        self._kind = kind
        self._word = word or kind.upper()
        self._words = words or f"{self._word}S"

    def add(self, row: NamedRow) -> None:
        """Store a new row; raises Conflict when its name is taken."""
        try:
            dynamo.transact(self._client, [self._put(row, _NEW), self._take_name(row)])
        except dynamo.ConditionFailed as error:
            raise self._taken() from error

    def get(self, tenant: str, row_id: str) -> NamedRow | None:
        """The row as it stands."""
        if not is_id(row_id):
            return None
        key = {"pk": self._partition(tenant), "sk": row_id}
        item = dynamo.get(self._client, self._table, key)
        return _row(tenant, item) if item else None

    def find(self, tenant: str, name: str) -> NamedRow | None:
        """The row that has a name."""
        key = {"pk": f"T#{tenant}#{self._kind.upper()}NAMES", "sk": name}
        item = dynamo.get(self._client, self._table, key)
        return self.get(tenant, str(item["row_id"])) if item else None

    def many(self, tenant: str, row_ids: Sequence[str]) -> tuple[NamedRow, ...]:
        """Those of at most 100 rows that there are, in no order."""
        keys = [{"pk": self._partition(tenant), "sk": each} for each in set(row_ids) if is_id(each)]
        found = dynamo.batch_get(self._client, self._table, keys) if keys else []
        return tuple(_row(tenant, item) for item in found)

    def page(
        self, tenant: str, after: str | None, limit: int
    ) -> tuple[tuple[NamedRow, ...], str | None]:
        """Up to `limit` rows with ids before `after`, newest first; the id to go on after."""
        found, last = dynamo.newest_first(
            self._client, self._table, self._partition(tenant), after, limit
        )
        return tuple(_row(tenant, item) for item in found), last

    def replace(self, former: NamedRow, row: NamedRow) -> bool:
        """Write `row` over `former`; False when that isn't what stands any more.

        Raises Conflict when another row has the name.
        """
        writes = [self._put(row, dynamo.equals(version=former.version))]
        if row.name != former.name:
            writes += [self._take_name(row), self._free_name(former)]
        return self._write(writes)

    def remove(self, row: NamedRow, also: Sequence[TransactWriteItemTypeDef] = ()) -> bool:
        """Remove a row and free its name; False when it isn't what stands any more.

        `also` is written with it; raises Conflict when a condition of that doesn't hold.
        """
        key = {"pk": self._partition(row.tenant), "sk": row.id}
        unchanged = dynamo.equals(version=row.version)
        writes = [dynamo.delete(self._table, key, unchanged), self._free_name(row), *also]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            if 0 in error.standing or 1 in error.standing:
                return False
            raise Conflict(f"the {self._kind} is in use") from error
        return True

    def _write(self, writes: list[TransactWriteItemTypeDef]) -> bool:
        """False if the row, which is the first write, isn't as it was read."""
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            if 0 in error.standing:
                return False
            raise self._taken() from error
        return True

    def _partition(self, tenant: str) -> str:
        return f"T#{tenant}#{self._words}"

    def _name_key(self, row: NamedRow) -> dict[str, str]:
        return {"pk": f"T#{row.tenant}#{self._word}NAMES", "sk": row.name}

    def _put(self, row: NamedRow, condition: dynamo.Condition) -> TransactWriteItemTypeDef:
        key = {"pk": self._partition(row.tenant), "sk": row.id}
        item = {**row.attributes, **key, "name": row.name, "version": row.version}
        return dynamo.put(self._table, item, condition)

    def _take_name(self, row: NamedRow) -> TransactWriteItemTypeDef:
        return dynamo.put(self._table, {**self._name_key(row), "row_id": row.id}, _NEW)

    def _free_name(self, row: NamedRow) -> TransactWriteItemTypeDef:
        return dynamo.delete(self._table, self._name_key(row), dynamo.equals(row_id=row.id))

    def _taken(self) -> Conflict:
        return Conflict(f"another {self._kind} has this name", details={"field": "name"})


def _row(tenant: str, item: Mapping[str, Any]) -> NamedRow:
    return NamedRow(
        tenant=tenant,
        id=item["sk"],
        name=item["name"],
        version=int(item["version"]),
        attributes={name: value for name, value in item.items() if name not in _KEPT},
    )

"""A tenant's rows with unique names, on DynamoDB.

    pk `T#<tenant>#<KIND>S`, sk `<id>`           a row; lists by partition, in the order of ids,
                                                 which is by time
    pk `T#<tenant>#<KIND>NAMES`, sk `<name>`     id of the row with the name
    pk `T#<tenant>#<KIND>REFS`, sk `<id>`        number of references to the row, after the first

Row and name are written in one transaction, on condition of the version that was read. References
to a row are counted in the transactions that write the referring items (`reference_writes`,
`unrefer`), so that no referenced row is removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class NamedRow(DataclassInstance, Protocol):
        """Fields of every row; `version` rises with every change."""

        @property
        def tenant(self) -> str: ...
        @property
        def id(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def version(self) -> int: ...


_UNUSED: Final[dynamo.Condition] = ("attribute_not_exists(#count) OR #count = :none", {":none": 0})

KEYED: Final = ("tenant", "id")
"""Fields that `from_key` reads. Codecs of named rows have no key: NamedRows adds it."""


def from_key(item: Item) -> Mapping[str, Any]:
    """Return the fields `KEYED` of a row."""
    return {"tenant": tenant_of(item), "id": item["sk"]}


class NamedItemTable:
    """Keys of the rows of one kind, and the writes that count references to them.

    `kind` names a row in error messages. `word` and `words` replace it in keys, if it isn't one
    word or its plural doesn't end in `s`.
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

    def reference_writes(self, tenant: str, row_id: str) -> list[TransactWriteItemTypeDef]:
        """Return the writes that count a new reference, the first writes of the referrer's
        transaction.

        The condition of the first one fails if there is no such row.
        """
        return [
            dynamo.check(self._table, self._key(tenant, row_id), dynamo.PRESENT),
            self._count(tenant, row_id, 1),
        ]

    def unrefer(self, tenant: str, row_id: str) -> list[TransactWriteItemTypeDef]:
        """Return the writes that uncount a removed reference."""
        return [self._count(tenant, row_id, -1)]

    def _count(self, tenant: str, row_id: str, by: int) -> TransactWriteItemTypeDef:
        return dynamo.change(
            self._table,
            self._references_key(tenant, row_id),
            ("ADD #count :by", {":by": by}),
            ("attribute_not_exists(#count) OR #count >= :none", {":none": 0}),
        )

    def _key(self, tenant: str, row_id: str) -> dict[str, str]:
        return {"pk": self._partition(tenant), "sk": row_id}

    def _references_key(self, tenant: str, row_id: str) -> dict[str, str]:
        return {"pk": f"T#{tenant}#{self._word}REFS", "sk": row_id}

    def _partition(self, tenant: str) -> str:
        return f"T#{tenant}#{self._words}"

    def _name_key(self, tenant: str, name: str) -> Item:
        return {"pk": f"T#{tenant}#{self._word}NAMES", "sk": name}


class NamedRows[T: NamedRow](NamedItemTable):
    """The rows of one kind. All methods raise DependencyUnavailable.

    `called` is the name's word in error messages; in lower case it is the field that they name.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        kind: str,
        codec: Codec[T],
        *,
        word: str | None = None,
        words: str | None = None,
        called: str = "name",
    ) -> None:
        super().__init__(client, table, kind, word=word, words=words)
        self._codec = codec
        self._rows = Table(client, table, codec)
        self._called = called

    def add(self, row: T, *extra: TransactWriteItemTypeDef) -> None:
        """Store a new row. Raises Conflict if its name is taken.

        The writes `extra` are added to the transaction, here and below; here they have no
        conditions.
        """
        try:
            dynamo.transact(self._client, [*self.new_writes(row), *extra])
        except dynamo.ConditionFailed as error:
            raise self._taken() from error

    def new_writes(self, row: T) -> list[TransactWriteItemTypeDef]:
        """Build the writes of a new row, whose conditions fail if its name is taken."""
        return [self._put(row, dynamo.ABSENT), self._take_name(row)]

    def get(self, tenant: str, row_id: str) -> T | None:
        """Return the row (consistent read), or None."""
        return self._rows.get(self._key(tenant, row_id)) if is_id(row_id) else None

    def find(self, tenant: str, name: str) -> T | None:
        """Return the row with this name, or None."""
        item = dynamo.get(self._client, self._table, self._name_key(tenant, name))
        return self.get(tenant, str(item["row_id"])) if item else None

    def many(self, tenant: str, row_ids: Sequence[str]) -> tuple[T, ...]:
        """Return the existing rows of at most 100 ids, unordered."""
        keys = [self._key(tenant, each) for each in row_ids if is_id(each)]
        return tuple(self._rows.batch_get(keys))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[T]:
        """Return up to `limit` rows with ids before `after`, newest first."""
        return self._rows.page(self._partition(tenant), after, limit, newest_first=True)

    def replace(self, former: T, row: T, *extra: TransactWriteItemTypeDef) -> bool:
        """Replace `former` by `row`; return False if it, or an item of another write, has changed.

        Raises Conflict if another row has the name.
        """
        names = [self._take_name(row), self._free_name(former)] if row.name != former.name else []
        changed = self._put(row, dynamo.equals(version=former.version))
        try:
            dynamo.transact(self._client, [changed, *names, *extra])
        except dynamo.ConditionFailed as error:
            if names and 0 not in error.standing and 1 in error.standing:
                raise self._taken() from error
            return False
        return True

    def remove(
        self,
        row: T,
        also: Sequence[TransactWriteItemTypeDef] = (),
        *extra: TransactWriteItemTypeDef,
    ) -> bool:
        """Remove a row and free its name; return False if it, or an item of another write, has
        changed.

        Raises Conflict while others refer to it, or if a condition of `also` fails.
        """
        removed = dynamo.delete(
            self._table, self._key(row.tenant, row.id), dynamo.equals(version=row.version)
        )
        unused = dynamo.delete(self._table, self._references_key(row.tenant, row.id), _UNUSED)
        own = [removed, self._free_name(row)]
        uses = [unused, *also]
        try:
            dynamo.transact(self._client, [*own, *uses, *extra])
        except dynamo.ConditionFailed as error:
            in_use = range(len(own), len(own) + len(uses))
            if 0 in error.standing or not any(place in error.standing for place in in_use):
                return False
            raise Conflict(f"the {self._kind} is in use") from error
        return True

    def _put(self, row: T, condition: dynamo.Condition) -> TransactWriteItemTypeDef:
        item = {**self._codec.encode(row), **self._key(row.tenant, row.id)}
        return dynamo.put(self._table, item, condition)

    def _take_name(self, row: T) -> TransactWriteItemTypeDef:
        key = self._name_key(row.tenant, row.name)
        return dynamo.put(self._table, {**key, "row_id": row.id}, dynamo.ABSENT)

    def _free_name(self, row: T) -> TransactWriteItemTypeDef:
        key = self._name_key(row.tenant, row.name)
        return dynamo.delete(self._table, key, dynamo.equals(row_id=row.id))

    def _taken(self) -> Conflict:
        return Conflict.of_field(
            self._called.lower(), f"another {self._kind} has this {self._called}"
        )

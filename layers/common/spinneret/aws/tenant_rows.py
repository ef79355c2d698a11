"""A tenant's rows by id, on DynamoDB; rows with unique names are in `named_rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class VersionedRow(DataclassInstance, Protocol):
        """A row whose `version` rises with every change."""

        @property
        def version(self) -> int: ...


class TenantRows[T: VersionedRow](DynamoAdapter):
    """Implements RowStore: pk by tenant, sk `<id>`, which sorts by time.

    Every change requires the version that was read.
    """

    def __init__(
        self, client: DynamoDBClient, table: str, codec: Codec[T], partition: Callable[[str], str]
    ) -> None:
        super().__init__(client, table)
        self._codec = codec
        self._rows = Table(client, table, codec)
        self._partition = partition

    def add(self, row: T) -> None:
        dynamo.transact(self._client, [self._rows.put_write(row, dynamo.ABSENT)])

    def get(self, tenant: str, row_id: str) -> T | None:
        key = {"pk": self._partition(tenant), "sk": row_id}
        return self._rows.get(key) if is_id(row_id) else None

    def page(self, tenant: str, after: str | None, limit: int) -> Page[T]:
        return self._rows.page(self._partition(tenant), after, limit, newest_first=True)

    def replace(self, former: T, row: T) -> bool:
        unchanged = dynamo.equals(version=former.version)
        return dynamo.transact_if(self._client, [self._rows.put_write(row, unchanged)])

    def remove(self, row: T) -> bool:
        unchanged = dynamo.equals(version=row.version)
        gone = dynamo.delete(self._table, self._codec.key(row), unchanged)
        return dynamo.transact_if(self._client, [gone])

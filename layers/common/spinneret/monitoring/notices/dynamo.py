"""Notices on DynamoDB, in the table Targets.

pk `T#<tenant>#NOTICES`, sk `<id>`    a notice with its updates; ids sort by time
"""

from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.monitoring.notices import limits
from spinneret.monitoring.notices.models import Notice


class DynamoNoticeStore(DynamoAdapter):
    """Implements NoticeStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, NOTICES)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Notice]:
        return self._rows.page(_partition(tenant), after, limit, newest_first=True)

    def get(self, tenant: str, notice_id: str) -> Notice | None:
        return self._rows.get(_key(tenant, notice_id)) if is_id(notice_id) else None

    def put(self, notice: Notice, former: Notice | None) -> bool:
        version = None if former is None else former.version
        put = self._rows.put_write(notice, dynamo.equals(version=version))
        return dynamo.transact_if(self._client, [put])

    def remove(self, notice: Notice) -> bool:
        unchanged = dynamo.equals(version=notice.version)
        gone = dynamo.delete(self._table, NOTICES.key(notice), unchanged)
        return dynamo.transact_if(self._client, [gone])


def _partition(tenant: str) -> str:
    return f"T#{tenant}#NOTICES"


def _key(tenant: str, notice_id: str) -> Item:
    return {"pk": _partition(tenant), "sk": notice_id}


def _purge_at(notice: Notice) -> Item:
    return {
        "purge_at": epoch_seconds(notice.ends_at or notice.updated_at)
        + limits.NOTICE_RETENTION_SECONDS
    }


NOTICES: Final = Codec(
    Notice,
    key=lambda notice: _key(notice.tenant, notice.id),
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
    columns={"updates": JSON},
    derived=_purge_at,
)

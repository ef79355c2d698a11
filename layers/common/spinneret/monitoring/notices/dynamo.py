"""Notices on DynamoDB, in the table Targets.

pk `T#<tenant>#NOTICES`, sk `<id>`    a notice with its updates; ids sort by time
"""

from typing import Final

from spinneret.aws.codec import JSON, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.tenant_rows import TenantRows
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import epoch_seconds
from spinneret.monitoring.notices import limits
from spinneret.monitoring.notices.models import Notice


class DynamoNoticeStore(TenantRows[Notice]):
    """Implements RowStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, NOTICES, _partition)


def _partition(tenant: str) -> str:
    return f"T#{tenant}#NOTICES"


def _purge_at(notice: Notice) -> Item:
    return {
        "purge_at": epoch_seconds(notice.ends_at or notice.updated_at)
        + limits.NOTICE_RETENTION_SECONDS
    }


NOTICES: Final = Codec(
    Notice,
    key=lambda notice: {"pk": _partition(notice.tenant), "sk": notice.id},
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
    columns={"updates": JSON},
    derived=_purge_at,
)

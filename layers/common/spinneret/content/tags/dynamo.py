"""Tags on DynamoDB: items of the kind `tag` in the table Labels (aws.named_rows)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.content.tags.models import Tag
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoTagStore:
    """Implements TagStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = NamedItemTable(client, table, "tag")

    def add(self, tag: Tag) -> None:
        """See TagStore."""
        self._rows.add(_row(tag))

    def get(self, tenant: str, tag_id: str) -> Tag | None:
        """See TagStore."""
        row = self._rows.get(tenant, tag_id)
        return None if row is None else _tag(row)

    def find(self, tenant: str, name: str) -> Tag | None:
        """See TagStore."""
        row = self._rows.find(tenant, name)
        return None if row is None else _tag(row)

    def many(self, tenant: str, tag_ids: Sequence[str]) -> tuple[Tag, ...]:
        """See TagStore."""
        return tuple(map(_tag, self._rows.get_many(tenant, tag_ids)))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Tag]:
        """See TagStore."""
        rows, last = self._rows.page(tenant, after, limit)
        return Page(items=tuple(map(_tag, rows)), after=last)

    def replace(self, former: Tag, tag: Tag) -> bool:
        """See TagStore."""
        return self._rows.replace(_row(former), _row(tag))

    def remove(self, tag: Tag) -> bool:
        """See TagStore."""
        return self._rows.remove(_row(tag))


def _row(tag: Tag) -> NamedItem:
    return NamedItem(
        tenant=tag.tenant,
        id=tag.id,
        name=tag.name,
        version=tag.version,
        attributes={
            "created_at": to_iso(tag.created_at),
        },
    )


def _tag(row: NamedItem) -> Tag:
    return Tag(
        tenant=row.tenant,
        id=row.id,
        name=row.name,
        created_at=parse_stamp(row.attributes["created_at"]),
        version=row.version,
    )

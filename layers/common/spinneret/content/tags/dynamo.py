"""Tags on DynamoDB: items of the kind `tag` in the table TagsAndCollections (aws.named_rows)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spinneret.aws.codec import Codec
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.content.tags.models import Tag
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoTagStore:
    """Implements TagStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = NamedRows(client, table, "tag", TAGS)

    def add(self, tag: Tag) -> None:
        self._rows.add(tag)

    def get(self, tenant: str, tag_id: str) -> Tag | None:
        return self._rows.get(tenant, tag_id)

    def find(self, tenant: str, name: str) -> Tag | None:
        return self._rows.find(tenant, name)

    def many(self, tenant: str, tag_ids: Sequence[str]) -> tuple[Tag, ...]:
        return self._rows.get_many(tenant, tag_ids)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Tag]:
        return self._rows.page(tenant, after, limit)

    def replace(self, former: Tag, tag: Tag) -> bool:
        return self._rows.replace(former, tag)

    def remove(self, tag: Tag) -> bool:
        return self._rows.remove(tag)


TAGS: Final = Codec(Tag, keyed=KEYED, from_key=from_key)

"""Tags."""

from __future__ import annotations

from spinneret.content.tags.dynamo import DynamoTagStore
from spinneret.content.tags.models import Tag, TagPage
from tests.fakes.time import START

TABLES = ("Labels",)
STORE = DynamoTagStore


def page_of(rows: tuple[Tag, ...], after: str | None) -> TagPage:
    return TagPage(tags=rows, after=after)


def row(tenant: str, row_id: str, name: str) -> Tag:
    return Tag(
        tenant=tenant,
        id=row_id,
        name=name,
        created_at=START,
    )

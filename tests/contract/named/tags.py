"""Tags."""

from spinneret.content.tags.dynamo import DynamoTagStore
from spinneret.content.tags.models import Tag
from spinneret.kernel.paging import Page
from tests.fakes.time import START

TABLES = ("TagsAndCollections",)
STORE = DynamoTagStore


def page_of(rows: tuple[Tag, ...], after: str | None) -> Page[Tag]:
    return Page(items=rows, after=after)


def row(tenant: str, row_id: str, name: str) -> Tag:
    return Tag(
        tenant=tenant,
        id=row_id,
        name=name,
        created_at=START,
    )

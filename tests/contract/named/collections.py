"""Collections."""

from spinneret.content.collections.dynamo import DynamoCollectionStore
from spinneret.content.collections.models import Collection
from spinneret.kernel.paging import Page
from tests.fakes.time import START

TABLES = ("TagsAndCollections", "Documents")
STORE = DynamoCollectionStore


def page_of(rows: tuple[Collection, ...], after: str | None) -> Page[Collection]:
    return Page(items=rows, after=after)


def row(tenant: str, row_id: str, name: str) -> Collection:
    return Collection(
        tenant=tenant,
        id=row_id,
        name=name,
        description=None,
        created_at=START,
        updated_at=START,
    )

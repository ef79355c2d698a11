"""Requests and responses of collections."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from spinneret.content.collections.models import DESCRIPTION_MAX_CHARS, NAME_MAX_CHARS, Collection
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_MAX_CHARS),
]
Description = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=DESCRIPTION_MAX_CHARS),
]


class CollectionRequest(BaseModel):
    """A new or changed collection; a PUT replaces both fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    """Name, unique within the tenant."""
    description: Description | None = None
    """Description for people."""


class CollectionView(BaseModel):
    """A collection."""

    collection_id: str
    name: str
    """Name, unique within the tenant."""
    description: str | None
    """Description for people; null without one."""
    document_count: int
    """Number of documents that aren't deleted."""
    created_at: str
    updated_at: str


class CollectionList(ListOf[CollectionView]):
    """A page of collections."""


def collection_view(collection: Collection, documents: int) -> CollectionView:
    """Return the view of a collection."""
    return CollectionView(
        collection_id=collection.id,
        name=collection.name,
        description=collection.description,
        document_count=documents,
        created_at=to_iso(collection.created_at),
        updated_at=to_iso(collection.updated_at),
    )


def collection_list(page: Page[Collection], documents: Mapping[str, int]) -> CollectionList:
    """Return the view of a page."""
    return CollectionList.page(page, lambda each: collection_view(each, documents[each.id]))

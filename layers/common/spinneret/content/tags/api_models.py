"""Requests and responses of tags."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.content.tags.models import NAME_MAX_CHARS
from spinneret.kernel.views import ListOf, Timestamp, View

TagName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, to_lower=True, min_length=1, max_length=NAME_MAX_CHARS
    ),
]
"""Name in lower case: `Silk` and `silk` are the same tag."""


class TagRequest(BaseModel):
    """A new or renamed tag."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: TagName
    """Name, unique within the tenant."""


class TagView(View):
    """A tag."""

    tag_id: Annotated[str, Field(validation_alias="id")]
    name: str
    """Name, unique within the tenant."""
    created_at: Timestamp


class TagList(ListOf[TagView]):
    """A page of tags."""

"""Requests and responses of status pages."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.kernel.views import Timestamp, View
from spinneret.monitoring.status_page import limits
from spinneret.monitoring.status_page.models import SLUG, StatusGroup, StatusPage

Slug = Annotated[
    str,
    StringConstraints(pattern=rf"^{SLUG}$", max_length=limits.STATUS_SLUG_MAX_CHARS),
]
Title = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=limits.STATUS_TITLE_MAX_CHARS
    ),
]


class GroupOfTargets(View):
    """Targets under one heading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Title
    """Heading of the group."""
    target_ids: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=80)]],
        Field(min_length=1, max_length=limits.STATUS_PAGE_TARGETS, strict=False),
    ]
    """Ids of targets in their order; only public ones are shown. An unknown id is rejected."""


class StatusPageChange(BaseModel):
    """Title and groups of a status page."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: Title
    groups: Annotated[list[GroupOfTargets], Field(max_length=limits.STATUS_PAGE_GROUPS)] = Field(
        default_factory=list
    )
    """Groups of targets, up to 50 in all; an empty list shows all public targets."""

    @model_validator(mode="after")
    def _is_within_a_page(self) -> Self:
        if sum(len(each.target_ids) for each in self.groups) > limits.STATUS_PAGE_TARGETS:
            raise ValueError(f"a page has at most {limits.STATUS_PAGE_TARGETS} targets in groups")
        return self


class StatusPageRequest(StatusPageChange):
    """Address, title and groups of the main status page."""

    slug: Slug


class StatusPageView(View):
    """A status page."""

    slug: str
    title: str
    groups: list[GroupOfTargets]
    """Groups of targets; an empty list shows all public targets."""
    is_main: bool
    """Whether it is the page of `/v1/status-page`."""
    path: str
    """Path relative to the API's base URL."""
    feed_path: str
    """Path of its Atom feed, relative to the API's base URL."""
    updated_at: Timestamp
    """Time of the last change of a status (RFC 3339, UTC)."""


class StatusPageList(BaseModel):
    """A tenant's pages, the main one first."""

    items: list[StatusPageView]


def groups_of(request: StatusPageChange) -> list[StatusGroup]:
    """Return the groups of a request."""
    return [
        StatusGroup(name=each.name, target_ids=tuple(each.target_ids)) for each in request.groups
    ]


def status_page_view(page: StatusPage) -> StatusPageView:
    """Return the view of a page."""
    path = f"/status/{page.slug}"
    paths = {"path": path, "feed_path": f"{path}/feed.xml"}
    return StatusPageView.model_validate({**vars(page), **paths})

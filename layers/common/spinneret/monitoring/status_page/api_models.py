"""Requests and responses of status pages."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from spinneret.kernel.clock import to_iso
from spinneret.monitoring.status_page import limits
from spinneret.monitoring.status_page.models import SLUG, StatusPage

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


class StatusPageRequest(BaseModel):
    """Address and title of a status page."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    slug: Slug
    title: Title


class StatusPageView(BaseModel):
    """A status page."""

    slug: str
    title: str
    path: str
    """Path relative to the API's base URL."""
    updated_at: str
    """Time of the last change of a status (RFC 3339, UTC)."""


def status_page_view(page: StatusPage) -> StatusPageView:
    """Return the view of a page."""
    return StatusPageView(
        slug=page.slug,
        title=page.title,
        path=f"/status/{page.slug}",
        updated_at=to_iso(page.updated_at),
    )

"""Requests and responses of notices."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.monitoring.notices import limits
from spinneret.monitoring.notices.models import NoticeKind, NoticeStatus
from spinneret.monitoring.notices.service import NoticeDraft
from spinneret.monitoring.status_page.api_models import Slug
from spinneret.monitoring.times import moment_of

NoticeTitle = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=limits.NOTICE_TITLE_MAX_CHARS
    ),
]
NoticeText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.NOTICE_TEXT_MAX_CHARS),
]
Moment = Annotated[str, StringConstraints(max_length=40)]


class NoticeUpdateRequest(BaseModel):
    """An update of a notice."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: NoticeStatus
    """Status from now on; `resolved` or `completed` ends the notice."""
    text: NoticeText
    """Text for everybody, without markup."""


class NoticeRequest(BaseModel):
    """An incident or maintenance to post on status pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: NoticeKind
    """Kind of the notice."""
    title: NoticeTitle
    """Title for everybody."""
    text: NoticeText
    """Text of the first update, without markup."""
    status: NoticeStatus | None = None
    """First status; by default `investigating` or `scheduled`."""
    slugs: Annotated[list[Slug], Field(max_length=limits.NOTICE_PAGES_MAX)] = Field(
        default_factory=list
    )
    """Slugs of the tenant's pages that show it; an empty list for all of them."""
    starts_at: Moment | None = None
    """Begin of maintenance (RFC 3339)."""
    ends_at: Moment | None = None
    """End of maintenance (RFC 3339)."""


class NoticeUpdateView(View):
    """An update of a notice."""

    at: Timestamp
    """Time of the update (RFC 3339, UTC)."""
    status: NoticeStatus
    """Status from then on."""
    text: str
    """Text without markup."""


class NoticeView(View):
    """A posted incident or maintenance."""

    id: str
    """Id of the notice."""
    kind: NoticeKind
    """Kind of the notice."""
    title: str
    """Title for everybody."""
    status: NoticeStatus
    """Status of the last update."""
    slugs: list[str]
    """Slugs of the pages that show it; an empty list for all of them."""
    starts_at: Timestamp | None
    """Begin of maintenance (RFC 3339, UTC); null for an incident."""
    ends_at: Timestamp | None
    """End of maintenance (RFC 3339, UTC); null for an incident."""
    created_at: Timestamp
    updated_at: Timestamp
    """Time of the last update (RFC 3339, UTC)."""
    updates: list[NoticeUpdateView]
    """Updates, oldest first."""


class NoticeList(ListOf[NoticeView]):
    """A page of notices, newest first."""


def draft_of(request: NoticeRequest) -> NoticeDraft:
    """Return the notice that a request describes. Raises ValidationFailed."""
    times = {
        name: moment_of(name, text)
        for name in ("starts_at", "ends_at")
        if (text := getattr(request, name)) is not None
    }
    return NoticeDraft(**{**vars(request), "slugs": tuple(request.slugs), **times})

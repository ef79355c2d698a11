"""Responses about check results."""

from pydantic import BaseModel

from spinneret.kernel.paging import Page, cursor_of
from spinneret.kernel.views import Timestamp, View
from spinneret.monitoring.checks.models import CheckResult, Outcome


class PhasesView(View):
    """Durations of the phases of the last hop."""

    dns_ms: int
    """Name resolution in milliseconds."""
    connect_ms: int
    """Connection in milliseconds."""
    tls_ms: int | None
    """TLS handshake in milliseconds; null over http."""
    first_byte_ms: int
    """Time from the request to the response's first byte, in milliseconds."""
    transfer_ms: int
    """Transfer of the body in milliseconds."""


class CertificateView(View):
    """TLS certificate of the site; after redirects, the one that expires first."""

    subject: str
    """Name of the holder."""
    issuer: str
    """Name of the authority that issued it."""
    not_before: Timestamp
    """Begin of the validity (RFC 3339, UTC)."""
    not_after: Timestamp
    """End of the validity (RFC 3339, UTC)."""


class ResultView(View):
    """Result of one check."""

    id: str
    """Id of the check."""
    checked_at: Timestamp
    """Time of the check (RFC 3339, UTC)."""
    outcome: Outcome
    """Verdict of the check."""
    status_code: int | None
    """null if the site didn't answer."""
    latency_ms: int
    """Duration of the check in milliseconds."""
    error: str | None
    """null if the check succeeded."""
    error_code: str | None
    """Code of the failure; null without one."""
    late_ms: int
    """Delay in milliseconds after the due time."""
    tries: int
    """Number of requests that were sent for the check."""
    in_maintenance: bool
    """Whether the check fell into a maintenance window."""
    final_url: str | None
    redirects: list[str]
    """URLs of the redirects in their order."""
    phases: PhasesView | None
    """Durations of the last request's phases; null without a response."""
    certificate: CertificateView | None
    """Certificate of the host; null over http."""
    body_sha256: str | None
    """SHA-256 of the body in hex; null if it wasn't read."""


class ResultList(BaseModel):
    """A page of results, newest first."""

    items: list[ResultView]
    next_page_token: str | None
    next_cursor: str | None
    has_more: bool


def result_view(result: CheckResult) -> ResultView:
    """Return the view of a result."""
    error = result.error
    about = {"error": error and error.message, "error_code": error and error.code}
    return ResultView.model_validate({**vars(result), **about})


def result_list(page: Page[CheckResult]) -> ResultList:
    """Return the view of a page."""
    cursor = cursor_of(page.after)
    return ResultList(
        items=[result_view(each) for each in page.items],
        next_page_token=cursor,
        next_cursor=cursor,
        has_more=page.after is not None,
    )

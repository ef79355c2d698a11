"""Responses about check results."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page, cursor_of
from spinneret.monitoring.checks.models import CheckResult, Outcome


class PhasesView(BaseModel):
    """Durations of the phases of the last hop."""

    dns_ms: int
    connect_ms: int
    tls_ms: int | None
    first_byte_ms: int
    transfer_ms: int


class CertificateView(BaseModel):
    """TLS certificate of the site; after redirects, the one that expires first."""

    subject: str
    issuer: str
    not_before: str
    not_after: str


class ResultView(BaseModel):
    """Result of one check."""

    id: str
    checked_at: str
    outcome: Outcome
    status_code: int | None
    """null if the site didn't answer."""
    latency_ms: int
    error: str | None
    """null if the check succeeded."""
    error_code: str | None
    late_ms: int
    """Delay in milliseconds after the due time."""
    tries: int
    in_maintenance: bool
    final_url: str | None
    redirects: list[str]
    phases: PhasesView | None
    certificate: CertificateView | None
    body_sha256: str | None


class ResultList(BaseModel):
    """A page of results, newest first."""

    items: list[ResultView]
    next_page_token: str | None
    next_cursor: str | None
    has_more: bool


def result_view(result: CheckResult) -> ResultView:
    """Return the view of a result."""
    phases, certificate = result.phases, result.certificate
    return ResultView(
        id=result.id,
        checked_at=to_iso(result.checked_at),
        outcome=result.outcome,
        status_code=result.status_code,
        latency_ms=result.latency_ms,
        error=None if result.error is None else result.error.message,
        error_code=None if result.error is None else result.error.code,
        late_ms=result.late_ms,
        tries=result.tries,
        in_maintenance=result.in_maintenance,
        final_url=result.final_url,
        redirects=list(result.redirects),
        phases=None
        if phases is None
        else PhasesView(
            dns_ms=phases.dns_ms,
            connect_ms=phases.connect_ms,
            tls_ms=phases.tls_ms,
            first_byte_ms=phases.first_byte_ms,
            transfer_ms=phases.transfer_ms,
        ),
        certificate=None
        if certificate is None
        else CertificateView(
            subject=certificate.subject,
            issuer=certificate.issuer,
            not_before=to_iso(certificate.not_before),
            not_after=to_iso(certificate.not_after),
        ),
        body_sha256=result.body_sha256,
    )


def result_list(page: Page[CheckResult]) -> ResultList:
    """Return the view of a page."""
    cursor = cursor_of(page.after)
    return ResultList(
        items=[result_view(each) for each in page.items],
        next_page_token=cursor,
        next_cursor=cursor,
        has_more=page.after is not None,
    )

"""Requests and responses of domain settings."""

import re
from collections.abc import Callable
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.kernel import bounds
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.paging import Page, position_of
from spinneret.kernel.views import ListOf
from spinneret.web import limits
from spinneret.web.hosts.models import HostSettings, HostState, Override
from spinneret.web.politeness.models import Circuit, PaceLimits

_DOMAIN: Final = re.compile(r"[a-z0-9_.:-]{1,253}")


class DomainUpdate(BaseModel):
    """Body of `PUT /api/v1/domains/{domain}`: the complete settings; omitted fields have their
    default.

    Settings apply to the tenant's own requests and can only lower their rate. All tenants share a
    host's circuit breaker. `circuit_breaker_threshold` stops this tenant after fewer consecutive
    failures, which may be other tenants'; `circuit_breaker_timeout_s` stops it for longer. Values
    less strict than the stage's defaults are rejected.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rate_limit_rps: Annotated[
        float | None, Field(ge=bounds.DOMAIN_RATE_MIN, allow_inf_nan=False)
    ] = None
    burst: Annotated[int | None, Field(ge=1)] = None
    min_gap_seconds: Annotated[float | None, Field(gt=0, le=limits.DOMAIN_GAP_MAX_SECONDS)] = None
    circuit_breaker_threshold: Annotated[
        int | None, Field(ge=1, le=limits.BREAKER_FAILURES_MAX)
    ] = None
    circuit_breaker_timeout_s: Annotated[
        float | None, Field(gt=0, le=limits.BREAKER_MEMORY_SECONDS)
    ] = None
    notes: Annotated[
        str | None,
        StringConstraints(strip_whitespace=True, max_length=limits.DOMAIN_NOTES_MAX_CHARS),
    ] = None
    """Notes for people; null removes them."""

    @property
    def override(self) -> Override:
        """Return the fields that lower the rate of requests."""
        return Override(
            requests_per_second=self.rate_limit_rps,
            burst=self.burst,
            min_gap_seconds=self.min_gap_seconds,
            breaker_failures=self.circuit_breaker_threshold,
            breaker_seconds=self.circuit_breaker_timeout_s,
        )


class BlockRequest(BaseModel):
    """Body of `POST /api/v1/domains/{domain}/block`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reason: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=1, max_length=limits.BLOCK_REASON_MAX_CHARS
        ),
    ]
    """Reason for people, shown with the domain and in refusals."""


class PaceView(BaseModel):
    """Limits in force for the tenant's requests to this host; its crawl-delay may be longer.

    Requests of other tenants count, too: no tenant exceeds its limits, and all tenants together
    don't exceed the default.
    """

    rate_limit_rps: float
    """Requests per second to the host."""
    burst: int
    min_gap_seconds: float | None
    """Seconds between the end of a request and the next one, one at a time; null if bursts are
    allowed."""
    circuit_breaker_threshold: int
    circuit_breaker_timeout_s: float


class DomainView(BaseModel):
    """A tenant's settings for a domain; null means the default."""

    domain: str
    """Host name without scheme and port."""
    rate_limit_rps: float | None
    burst: int | None
    min_gap_seconds: float | None
    circuit_breaker_threshold: int | None
    circuit_breaker_timeout_s: float | None
    notes: str | None
    """Notes for people; null without any."""
    blocked: bool
    """Whether the domain itself is blocked."""
    blocked_reason: str | None
    """Reason for the block; null if the domain isn't blocked."""
    blocked_at: str | None
    """Time of the block (RFC 3339, UTC); null if the domain isn't blocked."""
    pace: PaceView
    """Limits in force, from these settings and ours."""
    updated_at: str | None
    """null for a domain without settings."""


class DomainList(ListOf[DomainView]):
    """One page of settings, sorted by domain."""


class CircuitView(BaseModel):
    """Circuit breaker of a host, shared by all tenants.

    Threshold and timeout are this tenant's.
    """

    state: Circuit
    """State of the breaker: closed lets requests through."""
    failures: int
    """Consecutive failures of the host."""
    opened_at: str | None
    """Time at which the breaker opened; null while it is closed."""
    retry_after_seconds: float | None
    """Seconds until a request may pass; null while the circuit is closed."""


class DomainDetail(DomainView):
    """A domain's settings, its effective block and its circuit breaker."""

    blocked_by: str | None
    """Domain whose block applies: this one or a parent."""
    circuit: CircuitView
    """State of the breaker that stops requests to a failing host."""


def domain_view(settings: HostSettings, pace: PaceLimits) -> DomainView:
    """Return the view of settings and of the pace that they lead to."""
    override, block = settings.override, settings.block
    return DomainView(
        domain=settings.host,
        rate_limit_rps=override.requests_per_second,
        burst=override.burst,
        min_gap_seconds=override.min_gap_seconds,
        circuit_breaker_threshold=override.breaker_failures,
        circuit_breaker_timeout_s=override.breaker_seconds,
        notes=settings.notes,
        blocked=block is not None,
        blocked_reason=block.reason if block else None,
        blocked_at=to_iso(block.since) if block else None,
        pace=pace_view(pace),
        updated_at=optional_stamp(settings.updated_at),
    )


def pace_view(pace: PaceLimits) -> PaceView:
    """Return the limits in force: a gap, or a burst of 1, allows one request per interval."""
    seconds = pace.interval_ms / 1000
    return PaceView(
        rate_limit_rps=1 / seconds if pace.strict else pace.rate,
        burst=1 if pace.strict else pace.burst,
        min_gap_seconds=seconds if pace.strict else None,
        circuit_breaker_threshold=pace.breaker.threshold,
        circuit_breaker_timeout_s=pace.breaker.open_seconds,
    )


def domain_detail(state: HostState) -> DomainDetail:
    """Return the view of a domain and its breaker."""
    breaker, blocked_by = state.breaker, state.effective.blocked_by
    return DomainDetail(
        **domain_view(state.effective.settings, state.effective.pace).model_dump(),
        blocked_by=blocked_by.host if blocked_by else None,
        circuit=CircuitView(
            state=breaker.circuit,
            failures=breaker.failures,
            opened_at=optional_stamp(breaker.opened_at),
            retry_after_seconds=breaker.retry_after,
        ),
    )


def domain_list(
    page: Page[HostSettings], pace_under: Callable[[Override], PaceLimits]
) -> DomainList:
    """Return the view of a page."""
    return DomainList.page(
        page, lambda settings: domain_view(settings, pace_under(settings.override))
    )


def domain_of(cursor: str | None) -> str | None:
    """See `position_of`; unlike ids, names contain full stops and up to 253 characters."""
    return position_of(cursor, lambda position: _DOMAIN.fullmatch(position) is not None)

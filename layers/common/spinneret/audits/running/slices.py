"""State that the phases of an audit share while one worker runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from spinneret.audits import limits
from spinneret.audits.models import RunRef
from spinneret.audits.recipes import Sample
from spinneret.jobs.models import JobEventKind
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.rules import host_key

_FRESH_SECONDS: Final = 5.0


@dataclass(kw_only=True)
class AuditContext:
    """One claim of an audit's job."""

    context: Context
    ref: RunRef
    sample: Sample
    clock: Clock
    fetcher: PoliteFetcher
    renew: Callable[[], None]
    """Extends the host's lock; raises DomainLockLost."""

    def __post_init__(self) -> None:
        self._began_at = self._renewed_at = self.clock()
        self._reservation = self.context.job.waiting_for

    def checkpoint(self, step: str, progress: int) -> None:
        """Renew lease and lock, and report the progress.

        Raises LeaseLost, DomainLockLost, and ReleaseJob if no further request can finish in time.
        """
        self.context.checkpoint(step, progress)
        self.require_time()
        now = self.clock()
        if (now - self._renewed_at).total_seconds() >= limits.RENEW_SECONDS:
            self.renew()
            self._renewed_at = now

    def require_time(self) -> None:
        """Raise ReleaseJob if no further request can finish in time."""
        if self.context.remaining() < limits.SLICE_SECONDS:
            raise ReleaseJob

    def note(self, message: str, **data: object) -> None:
        """Add an entry to the timeline."""
        self.context.note(JobEventKind.STEP_DONE, message, data)

    @property
    def is_fresh(self) -> bool:
        """Whether the slice is so new that another one wouldn't have more time."""
        return (self.clock() - self._began_at).total_seconds() < _FRESH_SECONDS

    @property
    def worked_seconds(self) -> float:
        """Seconds worked in this run so far."""
        here = (self.clock() - self._began_at).total_seconds()
        return self.context.job.worked_ms / 1000 + here

    def ask(self, request: FetchRequest, name: str) -> FetchedPage | WaitUntil:
        """Fetch under the host's rules; every try of one request uses the same `name`.

        Raises the errors of PoliteFetcher.fetch, and ReleaseJob.
        """
        if self.context.remaining() < limits.REQUEST_SECONDS + bounds.DEADLINE_MARGIN_SECONDS:
            raise ReleaseJob
        reservation = self._reservation
        if reservation == host_key(request.url.host):
            self._reservation = None
        caller = Caller(
            tenant=self.ref.tenant,
            id=f"{self.ref.audit_id}/{self.ref.run}/{name}",
            reservation=reservation,
        )
        return self.fetcher.fetch(caller, request)

    def page(self, request: FetchRequest, name: str) -> FetchedPage:
        """Fetch like `ask`; raise Defer if the request has to wait."""
        answer = self.ask(request, name)
        if isinstance(answer, WaitUntil):
            raise self.deferral(answer.until, answer.waiting_for)
        return answer

    def deferral(self, until: datetime, waiting_for: str) -> Defer:
        """Return a Defer until then, or earlier so that the host's lock is renewed in time."""
        latest = self.clock() + timedelta(seconds=limits.WAIT_MAX_SECONDS)
        return Defer(min(until, latest), waiting_for)


def get(url: Url, **bounds: object) -> FetchRequest:
    """Build a request with the bounds of audits."""
    given = {"total_seconds": limits.REQUEST_SECONDS, "max_redirects": 10, **bounds}
    return FetchRequest(url=url, **given)  # type: ignore[arg-type]  # names are checked at run time

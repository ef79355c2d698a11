"""State that the phases of an audit share while one worker runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.audits import limits
from spinneret.audits.models import RunRef
from spinneret.audits.recipes import Sample
from spinneret.jobs.models import JobEventKind
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import FetchFailed, FetchTimeout, HttpRefused
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.headers.rules import parted
from spinneret.web.models import Caller, Purpose, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.rules import host_key

_FRESH_SECONDS: Final = 5.0
Send = Callable[[Caller, FetchRequest], FetchedPage | WaitUntil]


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
    host: str
    """Host of the site, as a key."""
    site_wait_seconds: int
    """Maximum time in which the site only refuses or fails."""
    refused_since: datetime | None
    """See Progress; so for `refusal`."""
    refusal: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of the tenant, for `origin` only."""
    origin: str = ""
    """Origin of the requested start page."""

    def __post_init__(self) -> None:
        self._began_at = self._renewed_at = self.clock()
        self._reservation = self.context.job.waiting_for

    def checkpoint(self, step: str, progress: int) -> None:
        """Renew lease and lock, and report the progress.

        Raises LeaseLost, DomainLockLost, and ReleaseJob if no further request can finish in time.
        """
        self.context.checkpoint(step, progress)
        self.require_time()
        if self.is_renewal_due:
            self.renew()
            self._renewed_at = self.clock()

    @property
    def is_renewal_due(self) -> bool:
        """Whether the next checkpoint renews the host's lock."""
        return (self.clock() - self._renewed_at).total_seconds() >= limits.RENEW_SECONDS

    def require_time(self) -> None:
        """Raise ReleaseJob if no further request can finish in time."""
        if self.context.remaining() < limits.SLICE_SECONDS:
            raise ReleaseJob

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the job's `urls`, `include` or `exclude`; none without any."""
        return tuple(self.context.job.payload.get(name, ()))

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

    def ask(
        self,
        request: FetchRequest,
        name: str,
        purpose: Purpose = Purpose.CRAWL,
        send: Send | None = None,
    ) -> FetchedPage | WaitUntil:
        """Fetch under the host's rules; every try of one request uses the same `name`. `send`
        replaces the fetcher.

        The answers of the site itself decide since when it refuses.

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
            purpose=purpose,
            reservation=reservation,
        )
        if self.headers and request.url.origin == self.origin:
            agent, own = parted(self.headers)
            request = replace(request, headers={**own, **request.headers}, user_agent=agent)
        try:
            answer = send(caller, request) if send else self.fetcher.fetch(caller, request)
        except (FetchFailed, FetchTimeout) as error:
            self._refused(request.url, error.message)
            raise
        if isinstance(answer, WaitUntil):
            self._refused(request.url, answer.refusal)
        elif answer.status_code >= 500 or answer.status_code == 429:
            self._refused(request.url, f"it answers {answer.status_code}")
        elif host_key(request.url.host) == self.host:
            self.refused_since, self.refusal = None, ""
        return answer

    def page(self, request: FetchRequest, name: str) -> FetchedPage:
        """Fetch like `ask`; raise like `wait` if the request has to wait."""
        answer = self.ask(request, name)
        if isinstance(answer, WaitUntil):
            raise self.wait(answer)
        return answer

    def wait(self, answer: WaitUntil) -> Defer:
        """Return a Defer for a wait at the site, with what it waits for.

        Raises HttpRefused if the site has only refused or failed for too long.
        """
        if not answer.refusal or self.refused_since is None:
            return self.deferral(answer.until, answer.waiting_for)
        ends_at = self.refused_since + timedelta(seconds=self.site_wait_seconds)
        if self.clock() >= ends_at:
            minutes = f"{self.site_wait_seconds / 60:g} minutes"
            raise HttpRefused(f"{self.host} has served no page for {minutes}: {self.refusal}")
        return self.deferral(min(answer.until, ends_at), f"{self.host}: {answer.refusal}")

    def _refused(self, url: Url, refusal: str) -> None:
        if refusal and self.refused_since is None and host_key(url.host) == self.host:
            self.refused_since, self.refusal = self.clock(), refusal

    def deferral(self, until: datetime, waiting_for: str) -> Defer:
        """Return a Defer until then, or earlier so that the host's lock is renewed in time."""
        latest = self.clock() + timedelta(seconds=limits.WAIT_MAX_SECONDS)
        return Defer(min(until, latest), waiting_for)


def get(url: Url, **bounds: object) -> FetchRequest:
    """Build a request with the bounds of audits."""
    given = {"total_seconds": limits.REQUEST_SECONDS, "max_redirects": 10, **bounds}
    return FetchRequest(url=url, **given)  # type: ignore[arg-type]  # names are checked at run time

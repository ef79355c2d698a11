"""The handler of `audit` jobs: the host's session around an audit's phases (F-04, F-05)."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from spinneret.audits import limits
from spinneret.audits.models import AuditPhase, Progress, RunRef
from spinneret.audits.recipes import Sample
from spinneret.audits.request_headers import sealed_in
from spinneret.audits.running.checking import LinkChecker
from spinneret.audits.running.crawling import PageCrawler
from spinneret.audits.running.judging import ReportBuilder, lack_of
from spinneret.audits.running.settling import SiteProbe
from spinneret.audits.running.slices import AuditContext
from spinneret.audits.running.storage import Storage
from spinneret.jobs.worker import CompletedInPart, Context, Defer, ReleaseJob
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, DomainLockTimeout
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.urls import parse_url
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.rules import host_key
from spinneret.web.politeness.sessions import Session, Sessions, SessionWait

logger = logging.getLogger(__name__)

_WAITS: Final = (Defer, ReleaseJob)


@service
class AuditPipeline:
    """One slice of an audit.

    The session belongs to the run, not to the worker. A slice that waits or releases the job keeps
    the lock. The next slice finds the lock by the session's id and takes it over. If no next slice
    comes, because the job was cancelled, paused or expired, the next session of the host takes the
    lock (see `has_left`). In all other cases the lock is released if this claim still holds it.
    """

    storage: Storage
    frontier: Frontier
    fetcher: PoliteFetcher
    sessions: Sessions
    seal: HeaderSeal
    browser: Callable[[], PoliteBrowser] | None = None
    clock: Clock
    site_wait_seconds: int = limits.SITE_WAIT_SECONDS

    def __post_init__(self) -> None:
        self._settling = SiteProbe(storage=self.storage)
        self._crawling = PageCrawler(
            frontier=self.frontier, storage=self.storage, browser=self.browser
        )
        self._checking = LinkChecker(storage=self.storage)
        self._judging = ReportBuilder(storage=self.storage)

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the audit's summary; raise CompletedInPart if it is partial."""
        job = context.job
        ref = RunRef(tenant=job.tenant, audit_id=job.id, run=job.run)
        progress = self.storage.store.progress(ref) or Progress(ref=ref)
        result = progress.result
        if result is None:
            result = self._in_session(context, progress)
        lack = lack_of(result)
        if lack is not None:
            raise CompletedInPart(result, lack)
        return result

    # ------------------------------------------------------------ Session

    def _in_session(self, context: Context, progress: Progress) -> Mapping[str, Any]:
        url = progress.start_url or context.job.payload["url"]
        host = host_key(parse_url(url).host)
        session = self._entered(context, progress, host)
        stays = False
        work = self._slice(context, progress, host, lambda: self.sessions.renew(session))
        try:
            return self._audited(work, progress, host)
        except _WAITS as wait:
            self._remember(work)
            stays = not isinstance(wait, _HostChanged)
            raise
        finally:
            self._release(session, stays=stays)

    def _entered(self, context: Context, progress: Progress, host: str) -> Session:
        """Open the session; raise Defer while the host is busy, or DomainLockTimeout.

        An audit of the same tenant is waited for without a lock attempt.
        """
        self._queue_behind_own(progress.ref, host)
        try:
            answer = self.sessions.open(
                host,
                progress.ref.session_id,
                attempt=progress.lock_attempts,
                mode=context.job.payload.get("mode") or "",
            )
        except DomainLockTimeout as timeout:
            holder = RunRef.of_session(timeout.details["held_by"])
            details = {"domain": host, "held_by": holder.audit_id}
            raise DomainLockTimeout(timeout.message, details=details) from timeout
        attempt = answer.attempt if isinstance(answer, SessionWait) else 0
        if attempt != progress.lock_attempts:
            self.storage.store.keep_progress(
                replace(progress, lock_attempts=attempt), context.lease
            )
        if isinstance(answer, SessionWait):
            raise Defer(answer.until, f"{host}: {answer.reason}")
        return answer

    def _queue_behind_own(self, ref: RunRef, host: str) -> None:
        """Raise Defer while another audit of the tenant holds the host."""
        session_id = self.sessions.holder(host)
        if session_id is None:
            return
        holder = RunRef.of_session(session_id)
        if holder.tenant == ref.tenant and holder.audit_id != ref.audit_id:
            until = self.clock() + timedelta(seconds=limits.SAME_SITE_SECONDS)
            raise Defer(until, f"{host}: audit {holder.audit_id}")

    def _remember(self, work: AuditContext) -> None:
        """Store since when the site refuses, for the next slice."""
        stored = self.storage.store.progress(work.ref) or Progress(ref=work.ref)
        seen = replace(stored, refused_since=work.refused_since, refusal=work.refusal)
        if seen != stored:
            self.storage.store.keep_progress(seen, work.context.lease)

    def _release(self, session: Session, *, stays: bool) -> None:
        """Leave or close the session; if the store is unavailable, the lock expires by itself."""
        try:
            if stays:
                self.sessions.leave(session)
            else:
                self.sessions.close(session)
        except DependencyUnavailable as error:
            logger.warning("lock.release.failed", extra={"reason": error.message})

    def _slice(
        self, context: Context, progress: Progress, host: str, renew: Callable[[], None]
    ) -> AuditContext:
        return AuditContext(
            context=context,
            ref=progress.ref,
            sample=Sample(**context.job.payload["sample"]),
            clock=self.clock,
            fetcher=self.fetcher,
            renew=renew,
            host=host,
            site_wait_seconds=self.site_wait_seconds,
            refused_since=progress.refused_since,
            refusal=progress.refusal,
            headers=self.seal.open(context.job.tenant, sealed_in(context.job.payload)),
            origin=parse_url(context.job.payload["url"]).origin,
        )

    # ------------------------------------------------------------ Parts

    def _audited(self, work: AuditContext, progress: Progress, host: str) -> Mapping[str, Any]:
        if progress.phase is AuditPhase.SETTLING:
            progress = self._settling.run(work, progress, work.context.job.payload["url"])
            assert progress.start_url is not None  # the site facts are complete
            settled = host_key(parse_url(progress.start_url).host)
            if settled != host:  # the site moved to another host, which needs the lock
                raise _HostChanged(self.clock(), settled)
        if progress.phase is AuditPhase.CRAWLING:
            progress = self._crawling.run(work, progress)
        if progress.phase is AuditPhase.CHECKING:
            progress = self._checking.run(work, progress)
        return self._judging.run(work, progress)


class _HostChanged(Defer):
    """Continue the session at another host."""

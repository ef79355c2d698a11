"""Submission and look-up of jobs: the job kernel's interface for requests."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spinneret.jobs import rules
from spinneret.jobs.bodies import check_reply
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import (
    ChildCounts,
    Draft,
    Job,
    JobEvent,
    JobRef,
    JobStatus,
    Lane,
    Reply,
    RequestKey,
)
from spinneret.jobs.placement import Deduplication, Placed, always, family_counts
from spinneret.jobs.plans import plan_of
from spinneret.jobs.ports import JobQueue, JobStore, NewJob, SubmissionRaced
from spinneret.kernel.caller import nobody
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    IdempotencyMismatch,
    NotFound,
)
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import items_of
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_CHILDREN = 100  # index rows of one query
_RACES = 5  # submissions of one key that may interleave before the store counts as busy


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """Answer to a submission; `replayed` if its Idempotency-Key already had one."""

    reply: Reply
    replayed: bool = False


@service
class JobService:
    """Accept work: store the row, then send the message; the sweeper sends missing messages."""

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    clock: Clock
    new_id: NewId
    caller: Callable[[], str | None] = nobody
    """Returns who submits: new jobs keep it."""
    result_exists: Callable[[Job], bool] = always
    """See Deduplication."""

    def __post_init__(self) -> None:
        self._placement = Deduplication(
            store=self.store,
            kinds=self.kinds,
            clock=self.clock,
            new_id=self.new_id,
            caller=self.caller,
            result_exists=self.result_exists,
        )

    def submit(
        self,
        tenant: str,
        drafts: Sequence[Draft],
        request: RequestKey | None,
        answer: Callable[[Sequence[Placed]], Reply],
        *,
        parents: bool = False,
    ) -> Submitted:
        """Store the jobs and the answer in one transaction, then send the messages.

        `answer` renders the reply from the jobs, draft by draft; it may amend existing jobs. With
        `parents`, the jobs are parents, whose number of children is unknown. Raises
        IdempotencyMismatch if the key was used with another payload, and ValidationFailed for a
        reply over JOB_REPLY_BYTES that a row must hold.
        """
        # Most jobs have no duplicate: one alone is written first, and its holder read if refused.
        look = len(drafts) > 1
        for _ in range(_RACES + (not look)):
            now = self.clock()
            if replayed := self._replayed(request):
                return replayed
            batch = self.new_id("batch") if len(drafts) > 1 else None
            scope = request.scope if request else None
            placed, new = self._placement.place(tenant, drafts, scope=scope, batch=batch, look=look)
            look = True
            if parents:
                family = rules.new_family(None)
                new = [replace(item, job=replace(item.job, family=family)) for item in new]
            try:
                reply = _storable(answer(placed), request)
                self.store.submit(new, first_events(new), request, reply, now)
            except SubmissionRaced:
                continue
            send_new(self.queue, self.kinds, [item.job for item in new])
            return Submitted(reply=reply)
        raise DependencyUnavailable("dynamodb", "too many requests for one key at once")

    def supply(self, job: Job, payload: Mapping[str, Any]) -> None:
        """Give a job the input that it waits for, and send its message.

        Raises LeaseLost if the job has moved since it was read, and Conflict if it doesn't wait.
        """
        now = self.clock()
        after = rules.supply(job, payload, now)
        event = rules.status_event(after, now, run=after.run, reason="SUPPLIED")
        self.store.transition(job, after, [event])
        if after.status is JobStatus.PENDING:
            send_new(self.queue, self.kinds, [after])

    def amend(self, job: Job, payload: Mapping[str, Any]) -> None:
        """Store the amended payload of an unfinished job; raise SubmissionRaced if it has moved."""
        self.store.amend(job, payload)

    def submit_parent(
        self,
        tenant: str,
        parent: Draft,
        drafts: Sequence[Draft],
        request: RequestKey | None,
        answer: Callable[[Job, Sequence[Placed]], Reply],
        begin: Callable[[JobRef], None] | None = None,
    ) -> Submitted:
        """Store a parent, the plan of its children and the answer in one transaction.

        The answer contains the future ids of the children. A draft whose work another job does is
        reported, not awaited. The parent's handler creates the children (see
        `children.Children.create_planned`): through `begin` before this returns, or when its
        message arrives. Raises as `submit`, and ValidationFailed for a plan over PLAN_BYTES.
        """
        for _ in range(_RACES):
            now = self.clock()
            if replayed := self._replayed(request):
                return replayed
            placed, new = self._placement.place(tenant, drafts)
            ids = {item.job.id for item in new}
            promised = [
                replace(draft, id=each.job.id)
                for draft, each in zip(drafts, placed, strict=True)
                if not each.duplicate and each.job.id in ids
            ]
            scope = request.scope if request else None
            _, [made] = self._placement.place(tenant, [parent], scope=scope)
            plan = plan_of(promised)
            family = replace(rules.new_family(len(promised)), plan_rows=len(plan))
            job = replace(made.job, family=family)
            founded = NewJob(job=job, plan=plan)
            try:
                reply = _storable(answer(job, placed), request)
                self.store.submit([founded], first_events([founded]), request, reply, now)
            except SubmissionRaced:
                continue
            self._begin(job, begin)
            return Submitted(reply=reply)
        raise DependencyUnavailable("dynamodb", "too many requests for one key at once")

    def replayed_or(
        self, request: RequestKey | None, submission: Callable[[], Submitted]
    ) -> Submitted:
        """Return the result of `submission`, or the stored answer if it refuses an answered
        request.

        The state that a request is checked against may have changed since it was accepted, even by
        its own effect. Looking up the answer after the refusal also finds one stored during the
        checks.
        """
        try:
            return submission()
        except DomainError:
            replayed = self._replayed(request)
            if replayed is None:
                raise
            return replayed

    def get(self, ref: JobRef, *kinds: str) -> Job:
        """Return a job of one of these kinds. Raises NotFound for any other or foreign id."""
        job = self.store.get(ref)
        if job is None or job.kind not in kinds:
            raise NotFound("no such job")
        return job

    def counts(self, job: Job) -> ChildCounts | None:
        """See `family_counts`."""
        return family_counts(self.store, job)

    def ended_children(self, parent: Job) -> list[Job]:
        """Return a parent's finished children. Eventually consistent: compare with `counts`."""
        ended = sorted(rules.TERMINAL)
        refs = items_of(lambda after: self.store.children(parent.ref, ended, after, _CHILDREN))
        return [job for job in map(self.store.get, refs) if job is not None]

    def _begin(self, parent: Job, begin: Callable[[JobRef], None] | None) -> None:
        try:
            if begin is not None:
                begin(parent.ref)
                return
        except DependencyUnavailable as error:
            facts = {"job_id": parent.id, "reason": error.message}
            logger.warning("parent_not_begun", extra=facts)
        send_new(self.queue, self.kinds, [parent])

    def _replayed(self, request: RequestKey | None) -> Submitted | None:
        """Return the answer to an earlier request under the key, or None. Raises
        IdempotencyMismatch.
        """
        stored = self.store.find_reply(request, self.clock()) if request else None
        if request is None or stored is None:
            return None
        if stored.payload != request.payload:
            raise IdempotencyMismatch("this Idempotency-Key was used with another payload")
        return Submitted(reply=stored.reply, replayed=True)


def _storable(reply: Reply, request: RequestKey | None) -> Reply:
    """Return the reply. Raises ValidationFailed if it can't be stored under the request's key."""
    if request is not None:
        check_reply(reply.body)
    return reply


def first_events(new: Sequence[NewJob]) -> list[JobEvent]:
    """Return the first event of each job's timeline."""
    return [rules.first_event(item.job) for item in new]


def send_new(queue: JobQueue, kinds: Mapping[str, KindPolicy], jobs: Sequence[Job]) -> None:
    """Send the messages of newly stored jobs; the sweeper sends any that fail here, and
    messages of long waits.
    """
    lanes: defaultdict[Lane, list[JobRef]] = defaultdict(list)
    for job in jobs:
        if not job.sends:
            continue
        lanes[kinds[job.kind].lanes[job.priority]].append(job.ref)
    for lane, refs in lanes.items():
        try:
            queue.send(lane, refs)
        except DependencyUnavailable:
            logger.warning("jobs_not_sent", extra={"lane": lane, "count": len(refs)})

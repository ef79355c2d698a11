"""Handler's view of a parent: create its children, and restart them in a later run."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, NoReturn

from spinneret.jobs import limits, rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Draft, Job, JobRef, JobStatus, ParentState, Transition
from spinneret.jobs.placement import Deduplication, Placed, always, family_counts
from spinneret.jobs.plans import drafts_of
from spinneret.jobs.ports import JobQueue, JobStore, NewJob, SubmissionRaced
from spinneret.jobs.service import first_events, send_new
from spinneret.jobs.worker import AwaitChildren, Context
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, DependencyUnavailable, NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service

_PAGE: Final = 100
_FAILED: Final = (JobStatus.FAILED, JobStatus.PARTIALLY_FAILED, JobStatus.EXPIRED)


@service
class Children:
    """Create and move the children of the parent that a context has claimed.

    A handler repeats its calls in every claim. Existing children aren't created again, because the
    parent's cursor moves in the same write that creates children.
    """

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    clock: Clock
    new_id: NewId
    move: Callable[[JobRef, Transition], Job]
    led_seconds: float = 0.0
    """If not 0, an execution of the parent starts the children, so no message is sent. The sweeper
    sends a message only to children that haven't started after that time."""
    result_exists: Callable[[Job], bool] = always
    """See Deduplication."""

    def __post_init__(self) -> None:
        self._led = timedelta(seconds=self.led_seconds)
        self._placement = Deduplication(
            store=self.store,
            kinds=self.kinds,
            clock=self.clock,
            new_id=self.new_id,
            result_exists=self.result_exists,
        )

    def create(
        self,
        context: Context,
        drafts: Sequence[Draft],
        cursor: str | None,
        record: Callable[[Sequence[Placed]], None] | None = None,
    ) -> list[Placed]:
        """Create up to CHILDREN_PER_WRITE children and move the cursor to `cursor`; None means all
        exist.

        `record` is called with the children before each write, and again after a race. What it
        stores under the claim's fence names the children even if the write isn't confirmed.

        A draft whose work another job does is returned but not awaited. Raises ReleaseJob near the
        deadline, LeaseLost, ValidationFailed and DependencyUnavailable.
        """
        tenant = context.job.tenant

        def created() -> list[Placed] | None:
            placed, new = self._placement.place(tenant, drafts)
            born = [
                NewJob(job=self._born(each.job, context.job), replaces=each.replaces)
                for each in new
            ]
            try:
                if record is not None:
                    record(placed)
                context.add_children(born, first_events(born), cursor)
            except SubmissionRaced:
                return None
            if not self._led:
                send_new(self.queue, self.kinds, [each.job for each in born])
            return placed

        busy = DependencyUnavailable("dynamodb", "too many requests for one key at once")
        return until_written(created, busy)

    def create_planned(self, context: Context) -> None:
        """Create the planned children that don't exist yet. Raises as `create`."""
        while (cursor := _cursor(context.job)) is not None:
            number, _, line = cursor.partition(":")
            part, first = int(number or 0), int(line or 0)
            text = self.store.plan(context.job.ref, part)
            if text is None:
                self.create(context, [], None)
                return
            drafts = drafts_of(text)
            last = min(len(drafts), first + bounds.CHILDREN_PER_WRITE)
            is_last = part + 1 == _family(context.job).plan_rows
            following = None if is_last else f"{part + 1}:0"
            on = f"{part}:{last}" if last < len(drafts) else following
            self.create(context, drafts[first:last], on)

    def await_all(self, context: Context) -> NoReturn:
        """Restart paused and failed children, then wait for all children.

        Ends the claim by raising AwaitChildren; raises as `create`.
        """
        self.begin_again(context)
        raise AwaitChildren

    def begin_again(self, context: Context) -> None:
        """Resume paused children; after the tenant's retry, retry children that failed before it.

        Raises as `create`.
        """
        if context.job.fence > 1:  # the parent may have been paused
            self._for_each(context, (JobStatus.PAUSED,), self._resume)
        if _family(context.job).retried_in > 1:
            self._retry_all(context)

    def _retry_all(self, context: Context) -> None:
        """Retry children that failed in earlier runs.

        The index may not show yet how the last of them ended. The counters do: soon after the
        retry, as long as they count more failures than the index, the parent is claimed again.
        """
        job, left = context.job, 0

        def act(ref: JobRef) -> None:
            nonlocal left
            left += self._stays_failed(job, ref)

        begun, surely = job.started_at or job.due_at, timedelta(seconds=limits.INDEX_LAG_SECONDS)
        is_recent = self.clock() < begun + surely
        self._for_each(context, _FAILED, act)
        if not is_recent:
            return
        counts = family_counts(self.store, job)
        assert counts is not None  # the job is a parent
        if counts.failed + counts.partially_failed + counts.expired > left:
            raise DependencyUnavailable("dynamodb", "an index lags behind its rows")

    def _born(self, job: Job, parent: Job) -> Job:
        child = rules.as_child(job, parent)
        return rules.started_by_execution(child, self.clock() + self._led) if self._led else child

    def _for_each(
        self, context: Context, statuses: Sequence[JobStatus], act: Callable[[JobRef], None]
    ) -> None:
        after: str | None = None
        while True:
            page = self.store.children(context.job.ref, statuses, after, _PAGE)
            for ref in page.items:
                act(ref)
            if page.after is None:
                return
            after = page.after
            context.checkpoint("children", context.job.progress)

    def _resume(self, ref: JobRef) -> None:
        self._try(ref, Transition.RESUME)

    def _stays_failed(self, parent: Job, ref: JobRef) -> bool:
        """Retry the child unless its run began after the parent's retry; return whether it stays
        failed.
        """
        child = self.store.get(ref)
        if child is None or child.status not in _FAILED:
            return False
        return child.parent_run >= _family(parent).retried_in or not self._try(
            ref, Transition.RETRY
        )

    def _try(self, ref: JobRef, move: Transition) -> bool:
        """Move a child; return False for one that changed meanwhile, or whose work a newer job
        does. Raises DependencyUnavailable for one that keeps changing.
        """
        try:
            self.move(ref, move)
        except (Conflict, NotFound):
            return False
        except Contended as busy:  # of our own rows: the parent didn't fail
            raise DependencyUnavailable("dynamodb", busy.message) from busy
        return True


def _cursor(job: Job) -> str | None:
    return _family(job).cursor


def _family(job: Job) -> ParentState:
    assert job.family is not None  # only a parent's kind has handlers that use Children
    return job.family

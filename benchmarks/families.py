"""Measure how fast one parent's 10,000 children are created and ended while transactions conflict.

    .venv/bin/python benchmarks/families.py [--children 10000]

DynamoDB Local raises no TransactionConflict, so the benchmark simulates it. The kernel's own code
runs with the store in memory, and every write takes LATENCY seconds. A write is cancelled, as in
DynamoDB, if a transaction is writing to one of its rows at that time. `aws.dynamo.transact` retries
as usual. The benchmark prints a table by counters and work of a child, with the expected conflicts.
"""

import argparse
import logging
import math
import queue
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common")]

from spinneret.aws import dynamo
from spinneret.jobs import dynamo_families
from spinneret.jobs.children import Children
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import (
    Backlog,
    Draft,
    Job,
    JobRef,
    JobStatus,
    Lane,
    ParentState,
    Priority,
)
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.ports import Claimed, NewJob, Refused
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.worker import AwaitChildren, Context, Worker
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.kinds import KINDS

CHILDREN: Final = 10_000
LATENCY: Final = 0.01  # of a transaction: two phases of some milliseconds
SHARDS: Final = (1, 12)
WORKERS: Final = 32
WORK: Final = (0.0, 0.3)
"""Mean seconds of a child's work; children without work end as fast as their counters allow."""
TRIES: Final = {"ends": dynamo.TRIES_MAX, "births": dynamo_families.BIRTH_TRIES}
PARENT: Final = "parent"
CHILD: Final = "child"
POLICIES: Final = {kind: KindPolicy(lanes=KINDS["crawl"].lanes) for kind in (PARENT, CHILD)}
_REMAINING: Final = 900.0


class _Rows:
    """Rows that transactions are writing; counts the conflicts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self.conflicts: Counter[str] = Counter()

    def write[Answer](self, what: str, rows: Sequence[str], effect: Callable[[], Answer]) -> Answer:
        """Run a transaction on these rows, with the kernel's retries."""
        attempt = _Attempt(self, what, rows, effect)
        dynamo.transact(attempt, [], TRIES[what])  # type: ignore[arg-type]  # stands for a client
        answer: Answer = attempt.answer
        return answer

    def try_once(self, what: str, rows: Sequence[str], effect: Callable[[], Any]) -> Any:
        """Run a transaction once. Raises the error of a cancelled one if a row is in use."""
        with self._lock:
            free = self._busy.isdisjoint(rows)
            if free:
                self._busy.update(rows)
        time.sleep(LATENCY)
        if not free:
            self.conflicts[what] += 1
            reasons = [{"Code": "TransactionConflict"}]
            raise ClientError(
                {
                    "Error": {"Code": "TransactionCanceledException"},
                    "CancellationReasons": reasons,
                },  # type: ignore[typeddict-unknown-key]  # as the service answers
                "TransactWriteItems",
            )
        try:
            return effect()
        finally:
            with self._lock:
                self._busy.difference_update(rows)


class _Attempt:
    """Client for `transact` that runs one transaction on the simulated rows."""

    def __init__(
        self, rows: _Rows, what: str, touched: Sequence[str], effect: Callable[[], Any]
    ) -> None:
        self._rows = rows
        self._what = what
        self._touched = touched
        self._effect = effect
        self.answer: Any = None

    def transact_write_items(self, **_: Any) -> None:
        self.answer = self._rows.try_once(self._what, self._touched, self._effect)


class CollidingStore(FakeJobStore):
    """Store in memory whose transactions take time and can conflict."""

    def __init__(self) -> None:
        super().__init__(POLICIES)
        self.rows = _Rows()

    def claim(self, ref: JobRef, *given: Any) -> Claimed | Refused:
        """Claim a job, as an update of one row."""
        time.sleep(LATENCY / 2)
        return super().claim(ref, *given)

    def transition(self, before: Job, after: Job, *given: Any, **named: Any) -> int:
        """Write the job's row and counters.

        These are the parent's counter of a child that ends, and all counters of a parent that ends.
        """
        touched = [before.id]
        if before.parent is not None and before.status != after.status:
            touched.append(f"{before.parent} {before.parent_shard}")
        counted = named.get("counted", ())
        touched += [f"{before.id} {shard}" for shard in range(len(counted))]
        move = super().transition
        return self.rows.write("ends", touched, lambda: move(before, after, *given, **named))

    def add_children(
        self, before: Job, after: Job, children: Sequence[NewJob], *given: Any, **named: Any
    ) -> None:
        """Write the parent's row, the children's rows, and the children's counters."""
        shards = {new.job.parent_shard for new in children}
        touched = [before.id, *(f"{before.id} {shard}" for shard in shards)]
        add = super().add_children
        self.rows.write("births", touched, lambda: add(before, after, children, *given, **named))


class _Lane:
    """Implements JobQueue for one lane."""

    def __init__(self) -> None:
        self.messages: queue.Queue[tuple[JobRef, float]] = queue.Queue()

    def send(self, _: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        for ref in refs:
            self.messages.put((ref, delay_seconds))

    def backlog(self, _: Lane) -> Backlog:
        return Backlog(waiting=self.messages.qsize(), in_flight=0)


class Run:
    """A parent whose children one worker creates and WORKERS workers run in parallel."""

    def __init__(self, children: int, shards: int, work: float) -> None:
        self._children = children
        self._seconds = work
        self.store, self._lane = CollidingStore(), _Lane()
        self._ids = count(1)
        self.left = 0
        """Number of ends that weren't written; the sweeper would complete them."""
        self.born_in = 0.0
        self._begun = time.monotonic()
        job = factories.job(kind=PARENT, family=ParentState(shards=shards), created_at=utc_now())
        self.parent = job.ref
        first, reply = [factories.event()], factories.reply()
        self.store.submit([NewJob(job=job)], first, None, reply, utc_now())

    def run(self) -> float:
        """Return the seconds from the first child to the end of the last."""
        threads = [threading.Thread(target=self._work) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        self._begun = time.monotonic()
        while self._row().status is JobStatus.PENDING:
            wait = (self._row().due_at - utc_now()) / timedelta(seconds=1)
            time.sleep(max(0.0, wait))
            self._worker().run(self.parent, lambda: _REMAINING)
        self.born_in = time.monotonic() - self._begun
        for thread in threads:
            thread.join()
        return time.monotonic() - self._begun

    def ended_well(self) -> bool:
        """Return whether the parent ended with all its children completed."""
        result = self._row().result or {}
        return result.get("completed_count") == self._children

    def _row(self) -> Job:
        row = self.store.get(self.parent)
        assert row is not None
        return row

    def _work(self) -> None:
        """Run messages until all children have ended or wait for the sweeper."""
        while self._ended() + self.left < self._children:
            try:
                ref, _ = self._lane.messages.get(timeout=0.05)
            except queue.Empty:
                continue
            if ref == self.parent:
                continue  # `run` runs the parent
            try:
                self._worker().run(ref, lambda: _REMAINING)
            except DependencyUnavailable:
                self.left += 1

    def _ended(self) -> int:
        shards = range(self._row().family.shards)  # type: ignore[union-attr]  # a parent
        return sum(each.completed for each in self.store.child_counts(self.parent, shards))

    def _worker(self) -> Worker:
        store = PublishingJobStore(self.store)
        store.listen(ParentEnds(store=store, clock=utc_now))
        return Worker(
            store=store,
            queue=self._lane,
            kinds=POLICIES,
            handlers={PARENT: self._found, CHILD: self._child},
            clock=utc_now,
            random=random.random,
            new_owner=lambda: f"owner-{next(self._ids)}",
        )

    def _child(self, _: Context) -> dict[str, Any]:
        if self._seconds:
            time.sleep(random.expovariate(1 / self._seconds))
        return {}

    def _found(self, context: Context) -> dict[str, Any]:
        children = Children(
            store=self.store,
            queue=self._lane,
            kinds=POLICIES,
            clock=utc_now,
            new_id=lambda prefix: f"{prefix}_{next(self._ids):06d}",
            move=_no_move,
        )
        draft = Draft(kind=CHILD, payload={}, priority=Priority.NORMAL, duplicate_key=None)
        while (cursor := context.job.family.cursor) is not None:  # type: ignore[union-attr]  # a parent
            made = int(cursor or 0)
            size = min(bounds.CHILDREN_PER_WRITE, self._children - made)
            on = str(made + size) if made + size < self._children else None
            children.create(context, [draft] * size, on)
        raise AwaitChildren


def _no_move(*_: Any) -> Job:
    raise AssertionError("no child is paused or retried here")


def main() -> None:
    """Print the table; exit with 1 if a parent didn't end with all its children.

    Parents with ends that the sweeper would complete aren't checked.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--children", type=int, default=CHILDREN, help=f"default {CHILDREN}")
    children = parser.parse_args().children
    logging.disable(logging.CRITICAL)
    columns = (
        *("counters", "work of a child", "all made after", "ended per second"),
        *("conflicts of an end", "by arithmetic", "conflicts of a write of 20", "by arithmetic"),
        "left to the sweeper",
    )
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    whole = True
    for shards in SHARDS:
        for work in WORK:
            run = Run(children, shards, work)
            rate = children / run.run()
            conflicts = run.store.rows.conflicts
            writes = -(-children // bounds.CHILDREN_PER_WRITE)
            met = rate * LATENCY  # ends in progress at any moment
            figures = (
                *(f"{shards}", f"{work} s", f"{run.born_in:.0f} s", f"{rate:.0f}"),
                *(f"{conflicts['ends'] / children:.2f}", f"{met / shards:.2f}"),
                *(f"{conflicts['births'] / writes:.2f}", f"{math.expm1(met):.2f}"),
                f"{run.left}",
            )
            print(f"| {' | '.join(figures)} |", flush=True)
            whole = whole and (run.left > 0 or run.ended_well())
    sys.exit(not whole)


if __name__ == "__main__":
    main()

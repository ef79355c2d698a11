"""A worker leaves its claim to an execution; `test_simulation` drives such jobs to their end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from tests.unit.jobs.worker_bench import Bench


class _Executions:
    """Implements Executions; notes how the job's lease stood as each began."""

    def __init__(self, bench: Bench, error: Exception | None = None) -> None:
        self._bench = bench
        self._error = error
        self.begun: list[tuple[str, Any]] = []

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        job = self._bench.store.get(self._bench.ref)
        assert job is not None
        self.begun.append((name, job.locked_until))
        if self._error is not None:
            raise self._error


def test_the_claim_is_kept_for_the_execution_before_it_begins(bench: Bench) -> None:
    executions = _Executions(bench)
    now = bench.clock()
    job = bench.run(Starter(executions=executions, prepare=lambda _: None))
    until = now + timedelta(seconds=bounds.EXECUTION_START_SECONDS)
    assert executions.begun == [(f"{job.id}-{job.fence}", until)]
    assert (job.status, job.locked_until) == (JobStatus.RUNNING, until)


def test_an_execution_that_could_not_be_started_is_started_later_uncharged(bench: Bench) -> None:
    executions = _Executions(bench, DependencyUnavailable("stepfunctions"))
    job = bench.run(Starter(executions=executions, prepare=lambda _: None))
    assert (job.status, job.attempts, job.locked_by) == (JobStatus.PENDING, 0, None)

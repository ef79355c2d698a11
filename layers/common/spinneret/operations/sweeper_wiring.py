"""The sweeper's function: recover abandoned jobs, then relay remaining events."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from spinneret.aws.stage import Stage, reads
from spinneret.crawl.deep.wiring import DEEP_CRAWL_MACHINE
from spinneret.events.wiring import RELAY, relay
from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions
from spinneret.jobs.sweeper import SweepResult
from spinneret.jobs.wiring import ending_store, sweep_pass
from spinneret.kernel import metrics
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE, counting
from spinneret.outbox.relay import RelayResult


@dataclass(frozen=True, kw_only=True)
class SweeperResult:
    """Result of one pass."""

    jobs: SweepResult
    events: RelayResult


@reads(*RELAY, MARKETPLACE_TABLE, DEEP_CRAWL_MACHINE)
def sweeper(stage: Stage) -> Callable[[], SweeperResult]:
    """Return the pass that the sweeper's rule starts; it counts marketplace jobs that end."""
    executions = StepFunctionsExecutions(stage.step_functions, stage[DEEP_CRAWL_MACHINE])
    events = relay(stage)
    store = ending_store(stage, events.relay, counting(stage))
    return swept_all(sweep_pass(stage, store), events.sweep, executions.running)


def swept_all(
    sweep_jobs: Callable[[], SweepResult],
    sweep_events: Callable[[], RelayResult],
    deep_crawls: Callable[[], int],
) -> Callable[[], SweeperResult]:
    """Return a pass that sweeps jobs, then events, even if the jobs fail.

    It records the number of deep crawls that run, unless it is unavailable.
    """

    def sweep() -> SweeperResult:
        try:
            jobs = sweep_jobs()
        finally:
            events = sweep_events()
            with suppress(DependencyUnavailable):  # the next pass is a minute away
                metrics.ACTIVE_DEEP_CRAWLS.add(deep_crawls())
        return SweeperResult(jobs=jobs, events=events)

    return sweep

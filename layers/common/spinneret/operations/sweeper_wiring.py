"""The sweeper's function: recover abandoned jobs, then relay remaining events."""

from collections.abc import Callable
from dataclasses import dataclass

from spinneret.aws.stage import Stage, reads
from spinneret.events.wiring import RELAY, relay
from spinneret.jobs.sweeper import SweepResult
from spinneret.jobs.wiring import ending_store, sweep_pass
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE, counting
from spinneret.outbox.relay import RelayResult


@dataclass(frozen=True, kw_only=True)
class SweeperResult:
    """Result of one pass."""

    jobs: SweepResult
    events: RelayResult


@reads(*RELAY, MARKETPLACE_TABLE)
def sweeper(stage: Stage) -> Callable[[], SweeperResult]:
    """Return the pass that the sweeper's rule starts; it counts marketplace jobs that end."""
    handing = relay(stage)
    store = ending_store(stage, handing.relay, counting(stage))
    return swept_all(sweep_pass(stage, store), handing.sweep)


def swept_all(
    sweep_jobs: Callable[[], SweepResult], sweep_events: Callable[[], RelayResult]
) -> Callable[[], SweeperResult]:
    """Return a pass that sweeps jobs, then events, even if the jobs fail."""

    def sweep() -> SweeperResult:
        try:
            jobs = sweep_jobs()
        finally:
            events = sweep_events()
        return SweeperResult(jobs=jobs, events=events)

    return sweep

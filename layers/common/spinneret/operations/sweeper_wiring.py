"""The sweeper's function: jobs that were left, then events that were not handed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.sweeper import SweepResult
from spinneret.jobs.wiring import ending_store, sweep_pass
from spinneret.marketplace.publishing.wiring import counting
from spinneret.outbox.relay import RelayResult


@dataclass(frozen=True, kw_only=True)
class SweeperSettings(RelaySettings):
    """The sweeper's environment."""

    marketplace_table: str
    """Marketplace jobs that expire, or lose their last lease, are in the statistics, too."""


@dataclass(frozen=True, kw_only=True)
class SweeperResult:
    """What one pass did."""

    jobs: SweepResult
    events: RelayResult


def sweeper(env: Mapping[str, str]) -> Callable[[], SweeperResult]:
    """One pass, for its rule."""
    settings = SweeperSettings.from_env(env)
    handing = relay(settings)
    store = ending_store(settings, handing.relay, counting(settings.marketplace_table))
    return swept_all(sweep_pass(settings, store), handing.sweep)


def swept_all(
    sweep_jobs: Callable[[], SweepResult], sweep_events: Callable[[], RelayResult]
) -> Callable[[], SweeperResult]:
    """Both passes; the second one is made even if the first one fails."""

    def sweep() -> SweeperResult:
        try:
            jobs = sweep_jobs()
        finally:
            events = sweep_events()
        return SweeperResult(jobs=jobs, events=events)

    return sweep

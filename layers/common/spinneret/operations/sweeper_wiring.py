"""The sweeper's function: recover abandoned jobs, then relay remaining events."""

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
    """Environment variables of the sweeper."""

    marketplace_table: str
    """Table whose statistics also count marketplace jobs that expire or lose their last lease."""


@dataclass(frozen=True, kw_only=True)
class SweeperResult:
    """Result of one pass."""

    jobs: SweepResult
    events: RelayResult


def sweeper(env: Mapping[str, str]) -> Callable[[], SweeperResult]:
    """Return the pass that the sweeper's rule starts."""
    settings = SweeperSettings.from_env(env)
    handing = relay(settings)
    store = ending_store(settings, handing.relay, counting(settings.marketplace_table))
    return swept_all(sweep_pass(settings, store), handing.sweep)


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

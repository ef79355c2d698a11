"""The sweeper, and how it reports the ends of jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spinneret.events.webhooks.wiring import NotifierSettings, notifier
from spinneret.jobs.sweeper import Swept
from spinneret.jobs.wiring import sweep_pass


def sweeper(env: Mapping[str, str]) -> Callable[[], Swept]:
    """One pass of the sweeper, for its rule."""
    settings = NotifierSettings.from_env(env)
    return sweep_pass(settings, notifier(settings))

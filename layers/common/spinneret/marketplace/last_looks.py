"""The last look of a job whose time is over: what its claims made is adopted, and nothing is made.

It runs as every claim of the job does, only that nothing that acts is sent. So a step that may have
happened finds its own effect, or ends the look.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from spinneret.jobs.models import Job
from spinneret.jobs.ports import Sockets
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.marketplace.tasks.models import Task
from spinneret.marketplace.vinted.models import PluginAnswer, PluginRequest
from spinneret.marketplace.vinted.ports import PluginStore
from spinneret.marketplace.vinted.transport import PluginTransport


def final_look_deferral(job: Job, now: datetime) -> Defer | None:
    """What ends the job's look; None for a job that may act.

    The job expires as what it waited for before: the deferral is as long as all that it has.
    """
    if not job.ending:
        return None
    later = now + timedelta(seconds=bounds.MARKETPLACE_PENDING_SECONDS)
    return Defer(later, job.waiting_for or "an end of what it began")


class AnswersOnly(PluginTransport):
    """Finds the answers of a plug-in that have come, and asks nothing."""

    def __init__(self, store: PluginStore, sockets: Sockets, clock: Clock, over: Defer) -> None:
        super().__init__(store, sockets, clock)
        self._over = over

    def ask(self, _: Context, task: Task, __: str, request: PluginRequest) -> PluginAnswer:
        """See PluginTransport. Raises Defer where that would ask."""
        answer = self.answer_of(task, request)
        if answer is None:
            raise self._over
        return answer

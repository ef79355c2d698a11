"""Last look of a job whose time has expired: adopt what earlier claims created; create nothing.

It runs like every claim of the job, but sends nothing that acts. A step that may have happened
finds its own effect, or ends the look.
"""

from datetime import datetime, timedelta

from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.plugins.models import PluginAnswer, PluginRequest
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.tasks.models import Task


def final_look_deferral(job: Job, now: datetime) -> Defer | None:
    """Return the exception that ends the job's last look; None for a job that may act.

    The deferral covers the job's whole pending time, so that the job expires with the reason for
    which it waited before.
    """
    if not job.ending:
        return None
    later = now + timedelta(seconds=limits.MARKETPLACE_PENDING_SECONDS)
    return Defer(later, job.waiting_for or "the outcome of its earlier calls")


@service
class AnswersOnly(PluginTransport):
    """Transport that finds answers a plug-in has sent, and sends no requests."""

    over: Defer

    def ask(self, _: Context, task: Task, __: str, request: PluginRequest) -> PluginAnswer:
        """See PluginTransport. Raises Defer where that would send a request."""
        answer = self.answer_of(task, request)
        if answer is None:
            raise self.over
        return answer

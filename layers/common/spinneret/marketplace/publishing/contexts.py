"""Make the contexts of claims.

A job whose time has expired gets a last look: it adopts what earlier claims created, and creates
nothing. It runs like every claim of the job, but sends nothing that acts. A step that may have
happened finds its own effect, or ends the look.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel.clock import Clock
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.service import SellerApiClients
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.plugins.models import PluginRequest, Sent
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.work import StepContext, StepServices
from spinneret.marketplace.tasks.models import Task


@service
class StepContexts:
    """Makes the context of a claim's steps."""

    clients: SellerApiClients
    listings: ListingStore
    effects: SideEffects
    services: StepServices
    clock: Clock

    def __call__(self, context: Context, subject: JobSubject) -> StepContext:
        """Return the context; one of a last look sends nothing that acts."""
        job, services = context.job, self.services
        over = _final_look_deferral(job, self.clock())
        if over is not None:
            browser = services.browser
            answers = AnswersOnly(
                store=browser.store, sockets=browser.sockets, clock=self.clock, over=over
            )
            services = replace(services, browser=answers)
        return StepContext(
            context=context,
            subject=subject,
            calls=self.clients.client(
                subject.tenant, subject.marketplace, context.remaining, job.started_at, over
            ),
            listings=self.listings,
            effects=self.effects,
            services=services,
            clock=self.clock,
            over=over,
        )


def _final_look_deferral(job: Job, now: datetime) -> Defer | None:
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

    def ask(self, _: Context, task: Task, request: PluginRequest) -> Sent:
        """See PluginTransport. Raises Defer where that would send a request."""
        asked = self.asked(task, request)
        if asked is None or asked.answer is None:
            raise self.over
        return asked

"""Requests of steps to the seller's browser: repeatable ones, and ones that must not be
repeated."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import InputNeeded, MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace.plugins.models import PluginAnswer, PluginRequest
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import Task

# Time to send: write the record and read what was sent before. Another claim gets the answer.
_SECONDS: Final = 3 * bounds.AWS_CALL_SECONDS
_LOOK: Final = "look whether the marketplace shows the listing"


def was_only_sent_as(work: StepContext, request: PluginRequest) -> bool:
    """Return whether the request was sent, and never with other content under its name."""
    browser, task = _browser(work)
    return browser.was_only_sent_as(task, request)


def repeatable[T](
    work: StepContext, request: PluginRequest, read: Callable[[PluginAnswer], T]
) -> T:
    """Send a request that may be repeated, and read its answer. After a time-out it is sent as a
    new request."""
    browser, task = _browser(work)
    marketplace = work.subject.marketplace
    try:
        answer = browser.ask(work.context, task, marketplace, request)
    except MarketplaceUnavailable:
        browser.begin_again(task, request)
        raise
    try:
        return read(answer)
    except (MarketplaceRefused, MarketplaceUnavailable):  # it failed: the next run sends it again
        browser.begin_again(task, request)
        raise


def forget(work: StepContext, *requests: PluginRequest) -> None:
    """Have the next run send these requests again, regardless of their answers."""
    browser, task = _browser(work)
    for request in requests:
        browser.begin_again(task, request)


def named(work: StepContext, what: str, request: PluginRequest) -> PluginRequest:
    """Return the request under a name that is the same in every job."""
    listing = work.listing
    name = f"{work.subject.marketplace}/{listing.product_id}/{listing.generation}/{what}"
    return replace(request, once=name)


def unrepeatable(
    work: StepContext,
    what: str,
    request: PluginRequest,
    read: Callable[[PluginAnswer], Mapping[str, Any]],
) -> Mapping[str, Any]:
    """Send a request that must not be repeated.

    Only the plug-in's answer shows whether it was performed. Raises InputNeeded if there is no
    answer in time, or none that proves it: the seller decides then.
    """
    browser, task = _browser(work)

    def perform() -> Mapping[str, Any]:
        answer = browser.ask(work.context, task, work.subject.marketplace, request)
        try:
            return read(answer)
        except (MarketplaceRefused, MarketplaceUnavailable) as error:
            if not answer.is_refusal:
                raise undecided(f"{error.message}: {_LOOK}") from error
            browser.begin_again(task, request)
            raise

    def find() -> Mapping[str, Any] | None:
        if not browser.was_sent(task, request):
            return None  # no plug-in ever received it
        try:
            return perform()
        except MarketplaceUnavailable as late:
            if not browser.was_sent(task, request):
                raise
            raise undecided(f"{late.message}: {_LOOK}") from late

    return work.once(what, perform, find, _SECONDS)


def undecided(message: str) -> InputNeeded:
    """Build the exception for a question that only the seller can answer."""
    fix = "submit link_product with its external_id, or with null if there is none"
    return InputNeeded.of_field("input_data.external_id", message, fix)


def _browser(work: StepContext) -> tuple[PluginTransport, Task]:
    assert work.task is not None
    return work.services.browser, work.task

"""Requests of steps to the seller's browser: repeatable ones, and ones that must not be
repeated."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import InputNeeded, MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace import limits
from spinneret.marketplace.plugins.models import PluginAnswer, PluginRequest, Sent
from spinneret.marketplace.plugins.transport import PluginTransport, content_of
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import Task

# Time to send: write the record and read what was sent before. Another claim gets the answer.
_SECONDS: Final = 3 * bounds.AWS_CALL_SECONDS
_LOOK: Final = "look whether the marketplace shows the listing"


def was_only_sent_as(work: StepContext, request: PluginRequest) -> bool:
    """Return whether the request was sent, and never with other content under its name."""
    browser, task = _browser(work)
    asked = browser.asked(task, request)
    return asked is not None and asked.contents == {content_of(request)}


def repeatable[T](
    work: StepContext, request: PluginRequest, read: Callable[[PluginAnswer], T]
) -> T:
    """Send a request that may be repeated, and read its answer. After a time-out, and if `read`
    raises MarketplaceRefused or MarketplaceUnavailable, the next run sends it as a new request."""
    browser, task = _browser(work)
    asked = browser.ask(work.context, task, request)
    try:
        return read(_answer(asked))
    except (MarketplaceRefused, MarketplaceUnavailable):
        browser.begin_again(task, request, asked)
        raise


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
        asked = browser.ask(work.context, task, request)
        try:
            return read(_answer(asked))
        except (MarketplaceRefused, MarketplaceUnavailable) as error:
            if asked.answer is None or not asked.answer.is_refusal:
                raise undecided(f"{error.message}: {_LOOK}") from error
            browser.begin_again(task, request, asked)
            raise

    def find() -> Mapping[str, Any] | None:
        if browser.asked(task, request) is None:
            return None  # no plug-in ever received it
        return perform()

    return work.once(what, perform, find, _SECONDS)


def undecided(message: str) -> InputNeeded:
    """Build the exception for a question that only the seller can answer."""
    fix = "submit link_product with its external_id, or with null if there is none"
    return InputNeeded.of_field("input_data.external_id", message, fix)


def _answer(asked: Sent) -> PluginAnswer:
    """Return the round's answer. Raises MarketplaceUnavailable if there is none."""
    if asked.answer is None:
        seconds = f"{limits.PLUGIN_TASK_SECONDS:.0f}"
        raise MarketplaceUnavailable(f"no answer of the plug-in within {seconds} s")
    return asked.answer


def _browser(work: StepContext) -> tuple[PluginTransport, Task]:
    assert work.task is not None
    return work.services.browser, work.task

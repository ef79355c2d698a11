"""Meanings of a plug-in's answers on every marketplace."""

from typing import Final

from spinneret.kernel.errors import InputNeeded
from spinneret.marketplace.plugins.models import PluginAnswer

TOO_SLOW: Final = 408  # an intermediary gave up: what the marketplace did is unknown
_REASONS: Final = ("message", "code", "errors")


def is_refusal(answer: PluginAnswer) -> bool:
    """Return whether the answer proves that nothing was done: a 4xx with a reason.

    An answer without a reason may come from an intermediary, and any other status may come after
    the action.
    """
    return (
        400 <= answer.status < 500
        and answer.status != TOO_SLOW
        and any(answer.body.get(name) for name in _REASONS)
    )


def undecided(message: str) -> InputNeeded:
    """Build the exception for a question that only the seller can answer."""
    fix = "submit link_product with its external_id, or with null if there is none"
    return InputNeeded.of_field("input_data.external_id", message, fix)

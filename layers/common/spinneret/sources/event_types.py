"""Types of the domain events of sources."""

from typing import Final

from spinneret.outbox.types import EventTypes

RUN_COMPLETED: Final = "source.run_completed"
RUN_FAILED: Final = "source.run_failed"

EVENT_TYPES: Final[EventTypes] = {
    RUN_COMPLETED: "A run of a source has ended, and no page failed; pages may be gone.",
    RUN_FAILED: "A run of a source has failed, or some of its pages have.",
}

"""Types of the domain events of discoveries; `jobs.ends` writes them by the kind's policy."""

from typing import Final

from spinneret.outbox.types import EventTypes

EVENT_TYPES: Final[EventTypes] = {
    "discovery.completed": "A discovery has ended, even if it found nothing.",
    "discovery.partially_failed": "A discovery ran out of time before all files were read.",
    "discovery.failed": "A discovery has failed for good.",
    "discovery.expired": "A discovery was not begun in time, or got no slot at its host in time.",
}

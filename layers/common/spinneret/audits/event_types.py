"""Types of the domain events of audits; the job kernel writes them by the kind's policy.

Their data contain the audit's result: its score, and `score_change` since the previous audit.
"""

from typing import Final

from spinneret.outbox.types import EventTypes

EVENT_TYPES: Final[EventTypes] = {
    "audit.completed": "An audit has ended with a result.",
    "audit.partially_failed": "An audit has ended with an incomplete result.",
    "audit.failed": "An audit has ended without a result.",
    "audit.expired": "An audit waited too long for its site.",
}

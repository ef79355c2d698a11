"""Types of the domain events of media; `jobs.ends` writes them by the kinds' policies."""

from typing import Final

from spinneret.outbox.types import EventTypes

EVENT_TYPES: Final[EventTypes] = {
    "screenshot.completed": "A screenshot was taken.",
    "screenshot.failed": "A screenshot has failed for good.",
    "screenshot.expired": "A screenshot was not begun in time, or got no slot at its host in time.",
    "pdf.completed": "A page was printed.",
    "pdf.failed": "The printing of a page has failed for good.",
    "pdf.expired": "A PDF was not begun in time, or got no slot at its host in time.",
    "execute_js.completed": "Scripts have run in a page, even if some of them failed.",
    "execute_js.failed": "A page for scripts has failed for good.",
    "execute_js.expired": "Scripts were not begun in time, or got no slot at their host in time.",
}

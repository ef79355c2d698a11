"""Job kinds of media, and their lane."""

from typing import Final

from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds
from spinneret.media import limits

SCREENSHOT: Final = "screenshot"
PDF: Final = "pdf"
SCRIPTS: Final = "execute_js"
LANE: Final = Lane("media")


def _policy(kind: str) -> KindPolicy:
    return KindPolicy(
        lanes=dict.fromkeys(Priority, LANE),
        subject="url",
        events=kind,
        ends_in_part=False,
        max_redrives=bounds.REDRIVES,
        pending_seconds=limits.MEDIA_PENDING_SECONDS,
    )


KINDS: Final = {kind: _policy(kind) for kind in (SCREENSHOT, PDF, SCRIPTS)}

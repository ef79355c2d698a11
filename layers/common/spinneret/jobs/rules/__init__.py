"""The life of a job as pure functions: each takes a job and returns the job after one step.

`states`: the state machine. `outcomes`: how a claim ends. `moves`: what a tenant or the clock does.
`sweeping`: when the sweeper looks at a job, and what it then changes.
"""

from spinneret.jobs.rules.moves import cancel, expire, is_troubled, pause, resume, retry
from spinneret.jobs.rules.outcomes import (
    JITTER,
    after_error,
    after_lease_expired,
    backoff,
    complete,
    defer,
    hand_back,
    is_abandoned,
)
from spinneret.jobs.rules.states import TERMINAL, TRANSITIONS, status_event
from spinneret.jobs.rules.sweeping import (
    awaits_notification,
    mark_notified,
    notification_tried,
    resend_at,
    resent,
    send_at,
    sent,
    sweep_at,
    wake_at,
)

__all__ = [
    "JITTER",
    "TERMINAL",
    "TRANSITIONS",
    "after_error",
    "after_lease_expired",
    "awaits_notification",
    "backoff",
    "cancel",
    "complete",
    "defer",
    "expire",
    "hand_back",
    "is_abandoned",
    "is_troubled",
    "mark_notified",
    "notification_tried",
    "pause",
    "resend_at",
    "resent",
    "resume",
    "retry",
    "send_at",
    "sent",
    "status_event",
    "sweep_at",
    "wake_at",
]

"""The life of a job as pure functions: each takes a job and returns the job after one step.

`states`: the state machine. `outcomes`: how a claim ends. `moves`: what a tenant or the clock does.
`sweeping`: when the sweeper looks at a job, and what it then changes. `families`: parents and their
children.
"""

from spinneret.jobs.rules.families import (
    await_children,
    awaits_children,
    born,
    cancelled_to,
    counted,
    end_of,
    has_children_to_cancel,
    looked_at,
    new_family,
    progress_of,
    reopened,
    settled,
    stopped_by_parent,
    summary,
    total,
    uncounted,
)
from spinneret.jobs.rules.moves import cancel, expire, is_troubled, pause, resume, retry
from spinneret.jobs.rules.outcomes import (
    JITTER,
    after_error,
    after_lease_expired,
    backoff,
    complete,
    complete_in_part,
    defer,
    hand_back,
    is_abandoned,
)
from spinneret.jobs.rules.states import TERMINAL, TRANSITIONS, status_event
from spinneret.jobs.rules.sweeping import (
    led,
    resend_at,
    resent,
    send_at,
    sent,
    spaced_resend_at,
    sweep_at,
    wake_at,
)

__all__ = [
    "JITTER",
    "TERMINAL",
    "TRANSITIONS",
    "after_error",
    "after_lease_expired",
    "await_children",
    "awaits_children",
    "backoff",
    "born",
    "cancel",
    "cancelled_to",
    "complete",
    "complete_in_part",
    "counted",
    "defer",
    "end_of",
    "expire",
    "hand_back",
    "has_children_to_cancel",
    "is_abandoned",
    "is_troubled",
    "led",
    "looked_at",
    "new_family",
    "pause",
    "progress_of",
    "reopened",
    "resend_at",
    "resent",
    "resume",
    "retry",
    "send_at",
    "sent",
    "settled",
    "spaced_resend_at",
    "status_event",
    "stopped_by_parent",
    "summary",
    "sweep_at",
    "total",
    "uncounted",
    "wake_at",
]

"""The kind of delivery jobs, and its lane."""

from typing import Final

from spinneret.events.webhooks import limits
from spinneret.jobs.kinds import EndMetrics, KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds, metrics

DELIVERY: Final = "delivery"

KINDS: Final = {
    # Five attempts over 2.6 hours are the whole series (P-10). A redrive would start it again every
    # five minutes. A tenant redelivers by its own request.
    DELIVERY: KindPolicy(
        lanes=dict.fromkeys(Priority, Lane("delivery")),
        max_attempts=limits.DELIVERY_ATTEMPTS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
        end_metrics=EndMetrics(
            succeeded=metrics.WEBHOOKS_DELIVERED, failed=metrics.WEBHOOKS_FAILED
        ),
    )
}

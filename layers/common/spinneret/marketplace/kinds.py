"""Kinds of marketplace jobs, and their lanes."""

from collections.abc import Mapping
from typing import Final

from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds
from spinneret.marketplace import limits

PUBLISH: Final = "publish"
PUBLISH_BATCH: Final = "publish_batch"
"""Parent of a batch's jobs; driven by statemachines/publish_batch.asl.yaml."""

LANES: Final[Mapping[Priority, Lane]] = {
    Priority.CRITICAL: Lane("marketplace-high"),
    Priority.HIGH: Lane("marketplace-high"),
    Priority.NORMAL: Lane("marketplace"),
    Priority.LOW: Lane("marketplace"),
}

KINDS: Final = {
    PUBLISH_BATCH: KindPolicy(
        lanes=LANES,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
        work_seconds=limits.PUBLISH_BATCH_WORK_SECONDS,
    ),
    PUBLISH: KindPolicy(
        lanes=LANES,
        subject="product_id",
        pending_seconds=limits.MARKETPLACE_PENDING_SECONDS,
        looks_before_expiry=True,
        # Allows many calls at a seller's rate limit: the import of 20,000 listings of eBay.
        work_seconds=7200.0,
    ),
}

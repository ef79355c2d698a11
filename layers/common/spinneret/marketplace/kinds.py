"""The kind of work that a marketplace job is, and its lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds

PUBLISH: Final = "publish"
PUBLISH_BATCH: Final = "publish_batch"
"""The parent of the jobs of one batch; driven by statemachines/publish_batch.asl.yaml."""

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
        work_seconds=bounds.PUBLISH_BATCH_WORK_SECONDS,
    ),
    PUBLISH: KindPolicy(
        lanes=LANES,
        subject="product_id",
        pending_seconds=bounds.MARKETPLACE_PENDING_SECONDS,
        looks_before_expiry=True,
        # Work of many calls at a seller's pace: 24 images and ten calls besides, twice over.
        work_seconds=1200.0,
    ),
}

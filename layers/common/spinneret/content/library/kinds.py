"""Kinds of document jobs, and their lanes."""

from collections.abc import Mapping
from typing import Final

from spinneret.content import limits
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds

UPLOAD: Final = "upload"
REINDEX: Final = "reindex"
TAG: Final = "tag"
REBUILD: Final = "rebuild_index"
REBUILD_STAGE: Final = "rebuild_stage_index"

LANES: Final[Mapping[Priority, Lane]] = {
    Priority.CRITICAL: Lane("documents-normal"),
    Priority.HIGH: Lane("documents-normal"),
    Priority.NORMAL: Lane("documents-normal"),
    Priority.LOW: Lane("documents-low"),
}

_INDEXED: Final = KindPolicy(
    lanes=LANES,
    subject="url",
    pending_seconds=bounds.JOB_PENDING_SECONDS,
    holds_steps=True,
)
KINDS: Final = {
    UPLOAD: _INDEXED,
    REINDEX: _INDEXED,
    TAG: KindPolicy(lanes=LANES, pending_seconds=bounds.JOB_PENDING_SECONDS, result_seconds=0),
    REBUILD: KindPolicy(
        lanes=LANES,
        work_seconds=limits.REBUILD_WORK_SECONDS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    ),
    REBUILD_STAGE: KindPolicy(
        lanes=LANES,
        work_seconds=limits.REBUILD_WORK_SECONDS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
        result_seconds=0,
    ),
}

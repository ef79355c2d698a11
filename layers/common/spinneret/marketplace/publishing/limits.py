"""Bounds of publishing, each with its source."""

from typing import Final

BATCH_PRODUCTS_MAX: Final = 500  # the source's example of a batch
PUBLISH_AHEAD_DAYS: Final = 30  # of a scheduled job; its rows are kept until its end
PUBLISHED_AT_ONCE: Final = 5  # jobs of one seller on one marketplace; also set in the machine's map
PUBLISH_ROUND_JOBS: Final = 25  # of one map
PUBLISH_VISIT_STEPS: Final = 20  # of one job in one map
PUBLISH_ROUND_SECONDS: Final = 600.0  # a round's lease; its steps renew it
PUBLISH_PAUSE_SECONDS: Final = 15.0  # a job that waits longer releases its slot to the next one
PUBLISH_BUSY_SECONDS: Final = 10.0  # until a job without a slot tries again
PUBLISH_LOOK_SECONDS: Final = 60.0  # between two checks of a batch whose jobs wait longer

"""Job kind and lane of imports. Checks aren't jobs: see `due`."""

from collections.abc import Mapping
from typing import Final

from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds

TARGET_IMPORT: Final = "target_import"

LANES: Final[Mapping[Priority, Lane]] = dict.fromkeys(Priority, Lane("imports"))

KINDS: Final = {
    TARGET_IMPORT: KindPolicy(
        lanes=LANES,
        subject="sitemap_url",
        max_redrives=bounds.REDRIVES,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    )
}

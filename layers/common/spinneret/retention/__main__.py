"""`python -m spinneret.retention`: one pass of the clean-up, enabled or not.

Reads AUDITS_TABLE, AUDITS_BUCKET, RETENTION_CLEANUP_BATCH_SIZE and RETENTION_CLEANUP_DRY_RUN.
Writes one line of JSON for each object, and one for the pass.
"""

import json
import logging
import os
import sys
from dataclasses import asdict
from typing import Final

from spinneret.aws.stage import Builder
from spinneret.retention.service import RetentionCleanup
from spinneret.retention.wiring import cleanup

_SHOWN: Final = (
    *("storage_uri", "retention_until", "reason", "refusals", "next_try_at"),
    *("deleted", "failed"),
)


class _Lines(logging.Formatter):
    """Formats a log record as JSON: its name and the fields in `_SHOWN`."""

    def format(self, record: logging.LogRecord) -> str:
        more = {
            name: value for name in _SHOWN if (value := getattr(record, name, None)) is not None
        }
        return json.dumps({"event": record.getMessage(), **more})


def main(build: Builder[RetentionCleanup] = cleanup) -> int:
    """Run one pass; return 0 if nothing failed, else 1."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Lines())
    root = logging.getLogger("spinneret.retention")
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        done = build.of(os.environ).run()
    finally:
        root.removeHandler(handler)
    sys.stdout.write(json.dumps(asdict(done)) + "\n")
    return 1 if done.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Functions of sources."""

from __future__ import annotations

from tests.architecture.permissions.parts import JOB_WORK, RELAYING, on, together

NEEDED = {
    # config and collection of a source are counted with it
    "CrawlApi": together(
        on("Plans", "BatchGetItem ConditionCheckItem UpdateItem"),
        on("Labels", "ConditionCheckItem UpdateItem"),
    ),
    "SourceTick": together(
        JOB_WORK,
        RELAYING,
        on("Plans", "BatchGetItem GetItem PutItem"),
        on("Plans/index/due", "Query"),
        on("Domains", "BatchGetItem GetItem"),  # blocks, breakers
        on("Labels", "GetItem"),
    ),
}

"""Functions of the search area."""

from __future__ import annotations

from tests.architecture.permissions.parts import (
    ADMISSION,
    CACHING,
    INDEX_WRITING,
    JOB_WORK,
    KEEPING,
    RELAYING,
    STORING,
    UPLOADED,
    on,
    together,
)

_DOCUMENTS = together(JOB_WORK, RELAYING, STORING, CACHING, INDEX_WRITING)

NEEDED = {
    "SearchApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,
        STORING,
        CACHING,
        INDEX_WRITING,
        on("Documents", "BatchGetItem"),
        on("Documents/index/*", "Query"),
        on("Content/FETCHED/*", "s3:DeleteObject"),
        on("Domain/_msearch", "es:ESHttpPost"),
    ),
    "RebuildIndex": together(STORING, CACHING, INDEX_WRITING, KEEPING),
    "Reconcile": together(STORING, CACHING, INDEX_WRITING, KEEPING),
    "DocumentsNormalWorker": _DOCUMENTS,
    "DocumentsLowWorker": _DOCUMENTS,
}

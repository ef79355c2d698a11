"""Functions of the search area."""

from tests.architecture.permissions.parts import (
    ADMISSION,
    CACHING,
    EMBEDDING,
    INDEX_WRITING,
    JOB_WORK,
    KEEPING,
    RELAYING,
    STORING,
    UPLOADED,
    on,
    together,
)

CALLS = {"invoke": "lambda:InvokeFunction"}

NEEDED = {
    "SearchApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,
        STORING,
        CACHING,
        INDEX_WRITING,
        EMBEDDING,
        on("RerankerSecretArn", "secretsmanager:GetSecretValue"),
        on("Documents", "BatchGetItem"),
        on("Domains", "GetItem"),
        on("Targets", "GetItem"),
        on("Checks", "Query"),
        on("Documents/index/*", "Query"),
        on("Content/FETCHED/*", "s3:DeleteObject"),
        on("Domain/_msearch", "es:ESHttpPost"),
    ),
    "RebuildIndex": JOB_WORK,
    "Reconcile": together(STORING, CACHING, INDEX_WRITING, KEEPING, EMBEDDING),
    "Embedder": {},
    "DocumentsWorker": together(
        JOB_WORK,
        RELAYING,
        STORING,
        CACHING,
        INDEX_WRITING,
        EMBEDDING,
        KEEPING,
        on("Documents/index/*", "Query"),
    ),
}

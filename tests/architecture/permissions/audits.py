"""Functions of the audits area."""

from tests.architecture.permissions.parts import (
    ADMISSION,
    EXPLORING,
    JOB_WORK,
    POLITE_FETCHING,
    RELAYING,
    UPLOADED,
    on,
    together,
)

_ROBOTS = together(on("Content", "s3:ListBucket"), on("Content/*", "s3:GetObject s3:PutObject"))

CALLS = {
    "delete_objects": "s3:DeleteObject",
    "generate_presigned_url": "s3:GetObject",
}

NEEDED = {
    "AuditsApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,
        RELAYING,
        POLITE_FETCHING,  # previews
        _ROBOTS,
        on("SecretsKey", "kms:Encrypt"),  # encrypts request headers
        on("Audits", "DeleteItem GetItem PutItem Query"),  # audits are read, schedules written
        on("AuditObjects", "s3:ListBucket"),  # a missing object is a 404, not a 403
        on("AuditObjects/*", "s3:GetObject"),  # issues, objects of presigned URLs
    ),
    "AuditWorker": together(
        JOB_WORK,
        RELAYING,
        POLITE_FETCHING,
        _ROBOTS,
        on("Audits", "GetItem PutItem Query"),
        on("AuditObjects", "s3:ListBucket"),
        on("AuditObjects/*", "s3:GetObject s3:PutObject"),
        EXPLORING,
    ),
    "AuditSchedules": together(
        JOB_WORK,
        on("Domains", "BatchGetItem GetItem"),  # blocks and circuit breakers
        on("Audits", "GetItem PutItem"),
        on("Audits/index/*", "Query"),
    ),
    "RetentionCleanup": together(
        on("Audits", "GetItem UpdateItem"),
        on("Audits/index/*", "Query"),
        on("AuditObjects/*", "s3:DeleteObject"),
    ),
}

"""Functions of the watch area."""

from tests.architecture.permissions.parts import (
    ADMISSION,
    JOB_WORK,
    POLITE_FETCHING,
    RELAYING,
    UPLOADED,
    on,
    together,
)

NEEDED = {
    "WatchApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,  # import jobs
        RELAYING,  # a heartbeat's call may end an incident
        on("SecretsKey", "kms:Encrypt"),  # encrypts the owner's part of requests
        on("Targets", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
        on("Checks", "DeleteItem PutItem Query UpdateItem"),  # calls of heartbeats
        on("ChecksQueue", "sqs:SendMessage"),  # the first checks of a new target
    ),
    "Tick": together(
        on("ChecksQueue", "sqs:SendMessage"),
        on(
            "Targets", "GetItem PutItem UpdateItem"
        ),  # number of the tick, position of the last scan
        on("Targets/index/due", "Query"),
    ),
    "CheckWorker": together(
        JOB_WORK,  # relays reports
        RELAYING,
        on("Domains", "BatchGetItem GetItem UpdateItem"),  # hosts' rate limits, tenants' blocks
        # Options, states, incidents, slots, windows, position of the last scan
        on("Targets", "BatchGetItem GetItem PutItem Query UpdateItem"),
        on("Checks", "DeleteItem PutItem UpdateItem"),
        on("SecretsKey", "kms:Decrypt"),
        on("ChecksQueue", "sqs:SendMessage"),  # repeats checks whose host is busy
    ),
    "ImportWorker": together(
        JOB_WORK,
        RELAYING,
        POLITE_FETCHING,
        on("Targets", "BatchGetItem GetItem PutItem Query UpdateItem"),
        on("Content", "s3:ListBucket"),  # robots.txt of the sitemap's host
        on("Content/*", "s3:GetObject s3:PutObject"),
    ),
}

"""Functions of the core area."""

from tests.architecture.permissions.parts import (
    ADMISSION,
    EMBEDDING,
    JOB_WORK,
    LANES,
    PUSHING,
    RELAYING,
    UPLOADED,
    on,
    together,
)
from tests.architecture.permissions.reading import CONDITIONED

NEEDED = {
    "CoreApi": together(
        on("Tenancy", "GetItem PutItem Query UpdateItem"),  # keys
        UPLOADED,
        on("Uploads/*", "s3:PutObject"),  # what a presigned form does, its signer must be allowed
        JOB_WORK,
        RELAYING,
        # readiness: these questions show nothing that is stored
        on("Content", "s3:ListBucket"),
        on("Domain/_cluster/health", "es:ESHttpGet"),
        on("Domain/_alias/chunks-*", "es:ESHttpGet"),
        on(f"Documents{CONDITIONED}", "GetItem"),  # whether there ever was an index
        EMBEDDING,
    ),
    "StreamsApi": together(ADMISSION, on("Jobs", "GetItem Query")),
    "LiveApi": together(
        ADMISSION,
        PUSHING,
        on("Jobs", "ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem"),
    ),
    "Sweeper": together(JOB_WORK, RELAYING),
    "Redrive": on(
        LANES,
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage sqs:SendMessage",
    ),
    "DeliveryWorker": together(
        JOB_WORK,
        on(
            "Webhooks", "BatchGetItem DeleteItem GetItem PutItem UpdateItem"
        ),  # endpoints, log, cooldowns
        on("SecretsKey", "kms:Decrypt"),
    ),
}

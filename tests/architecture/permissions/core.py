"""Functions of the core area."""

from spinneret.operations.tenants.tables import TABLES
from spinneret.operations.tenants.wiring import BUCKETS
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
        on("Tenancy", "GetItem PutItem Query UpdateItem"),  # API keys
        UPLOADED,
        on("Uploads/*", "s3:PutObject"),  # a form acts with its signer's permission
        JOB_WORK,
        RELAYING,
        # readiness: these requests return no stored data
        on("Content", "s3:ListBucket"),
        on("Domain/_cluster/health", "es:ESHttpGet"),
        on("Domain/_alias/chunks-*", "es:ESHttpGet"),
        on(f"Documents{CONDITIONED}", "GetItem"),  # whether an index ever existed
        EMBEDDING,
        on("MediaWorker", "lambda:InvokeFunction"),
    ),
    "StreamsApi": together(ADMISSION, on("Jobs", "GetItem Query")),
    "ConsoleApi": ADMISSION,
    "LiveApi": together(
        ADMISSION,
        PUSHING,
        on("Jobs", "ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem"),
    ),
    "Sweeper": together(JOB_WORK, RELAYING, on("DeepCrawlMachine", "states:ListExecutions")),
    "Redrive": on(
        LANES,
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage"
        " sqs:SendMessage",
    ),
    # The operator's commands reach all data of a tenant.
    "Tenants": together(
        *(on(table, "BatchWriteItem Scan") for table in TABLES),
        *(on(bucket, "s3:ListBucketVersions") for bucket in BUCKETS),
        *(on(f"{bucket}/*", "s3:DeleteObject s3:DeleteObjectVersion") for bucket in BUCKETS),
        on("Domain/chunks-*/_delete_by_query", "es:ESHttpPost"),
        # states and marks of credentials; holds of work, and the check for running work
        on("Tenancy", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
        on("Jobs", "BatchGetItem DeleteItem GetItem PutItem"),
        on("Jobs/index/*", "Query"),
        # revokes connections
        on("Marketplace", "DeleteItem GetItem Query"),
        on("ClientSecrets", "secretsmanager:GetSecretValue"),
        on("SecretsKey", "kms:Decrypt"),
        # exports
        on("Documents", "BatchGetItem"),
        on("Documents/index/*", "Query"),
        on("TagsAndCollections", "BatchGetItem"),
        on("Targets", "BatchGetItem Query"),
        on("Content", "s3:ListBucket"),
        on("Content/*", "s3:GetObject s3:PutObject"),
    ),
    "DeliveryWorker": together(
        JOB_WORK,
        on(
            "Webhooks", "BatchGetItem DeleteItem GetItem PutItem UpdateItem"
        ),  # endpoints, log, cooldowns
        on("SecretsKey", "kms:Decrypt"),
    ),
}

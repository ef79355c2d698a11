"""Permissions of the parts of a function's wiring, by resource.

A transaction needs the permission of each of its writes, a query of an index needs one for the
index (DynamoDB Developer Guide, "Using IAM with DynamoDB transactions", "Using IAM with indexes").
SQS checks SendMessage for batches, too.
"""

from tests.architecture.permissions.reading import CONDITIONED, Permissions


def on(resource: str, actions: str) -> Permissions:
    """Return the actions on a resource; actions of DynamoDB are given without their service."""
    return {resource: {each if ":" in each else f"dynamodb:{each}" for each in actions.split()}}


def together(*parts: Permissions) -> Permissions:
    """Return the union of permissions."""
    found: Permissions = {}
    for part in parts:
        for resource, actions in part.items():
            found.setdefault(resource, set()).update(actions)
    return found


# Functions read credentials and write rate-limit windows.
ADMISSION = together(on("Tenancy", "GetItem"), on(f"Tenancy{CONDITIONED}", "UpdateItem"))
UPLOADED = together(on("Uploads/*", "s3:GetObject"), on("Uploads", "s3:ListBucket"))
PUSHING = on("Api/ws/*/@connections/*", "execute-api:ManageConnections")
LANES = "spinneret-${Stage}-*"
# The common policy of all functions that submit, move or run jobs.
JOB_WORK = together(
    on(
        "Jobs",
        "BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem",
    ),
    on("Jobs/index/*", "Query"),
    on("Idempotency", "BatchGetItem PutItem"),
    on(LANES, "sqs:GetQueueAttributes sqs:SendMessage"),
    PUSHING,
)
# Events are written in transactions and relayed: to the bus, and to endpoints by deliveries.
RELAYING = together(
    on("Events", "PutItem UpdateItem"),
    on("Events/index/*", "Query"),
    on("Webhooks", "Query"),
    on("Bus", "events:PutEvents"),
)
# A host's rate limit, a tenant's settings for the host, and the credentials of proxies.
POLITE_FETCHING = together(
    on("Domains", "BatchGetItem GetItem UpdateItem"), on("SecretsKey", "kms:Decrypt")
)
EXPLORING = together(
    on("Frontier", "BatchGetItem ConditionCheckItem GetItem PutItem Query UpdateItem"),
    on("Frontier/index/placed", "Query"),
)
# Either a function computes embeddings, or a server with credentials does.
EMBEDDING = together(
    on("spinneret-embedder-${Stage}", "lambda:InvokeFunction"),
    on("EmbedderSecretArn", "secretsmanager:GetSecretValue"),
)
STORING = together(
    on("Documents", "DeleteItem GetItem PutItem UpdateItem"),
    on("Content", "s3:ListBucket"),  # so that a missing object is a 404, not a 403
    on("Content/*", "s3:GetObject s3:PutObject"),
)
KEEPING = together(
    on("Documents", "BatchGetItem Scan"),
    on("Content/*", "s3:DeleteObjectVersion"),
    on("Content", "s3:ListBucketVersions"),
    on("Domain/_aliases", "es:ESHttpPost"),
    on("Domain/chunks-*/_refresh", "es:ESHttpPost"),
    on("Domain/chunks-*/_search", "es:ESHttpPost"),
    on("Domain/chunks-*", "es:ESHttpDelete"),
)
CACHING = together(
    on("Caches", "BatchGetItem BatchWriteItem DeleteItem PutItem UpdateItem"),
    on("Caches/index/*", "Query"),
)
INDEX_WRITING = together(
    on("Domain/_alias/chunks-*", "es:ESHttpGet"),
    on("Domain/chunks-*", "es:ESHttpPut"),
    on("Domain/_bulk", "es:ESHttpPost"),
    on("Domain/chunks-*/_delete_by_query", "es:ESHttpPost"),
)

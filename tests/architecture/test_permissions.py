"""Each function may do what its code can ask for, and nothing else (T-04).

The table says by part what a function's wiring reaches; an API function's parts are those that its
routes use. A transaction needs the permission of each of its writes, a query of an index one for
the index (DynamoDB Developer Guide, "Using IAM with DynamoDB transactions", "Using IAM with
indexes"); SQS checks SendMessage for batches too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from tests.architecture.conftest import ROOT, Templates
from tests.architecture.permissions import CONDITIONED, Permissions, permissions_of


def on(resource: str, actions: str) -> Permissions:
    """The actions, named without their service where that is DynamoDB."""
    return {resource: {each if ":" in each else f"dynamodb:{each}" for each in actions.split()}}


def together(*parts: Permissions) -> Permissions:
    """All of these."""
    found: Permissions = {}
    for part in parts:
        for resource, actions in part.items():
            found.setdefault(resource, set()).update(actions)
    return found


def sending(*lanes: str) -> Permissions:
    return together(*(on(f"{lane}Queue", "sqs:SendMessage") for lane in lanes))


EVERY_LANE = ("CrawlHigh", "CrawlNormal", "CrawlLow", "Delivery")
# admission: credentials are read, windows written
ADMISSION = together(on("Tenancy", "GetItem"), on(f"Tenancy{CONDITIONED}", "UpdateItem"))
KEYS = on("Tenancy", "GetItem PutItem Query UpdateItem")
UPLOADED = together(on("Uploads/*", "s3:GetObject"), on("Uploads", "s3:ListBucket"))
PUSHING = on("Api/ws/*/@connections/*", "execute-api:ManageConnections")
# JobService: answers and duplicates are looked up; jobs, events, records and checks of holders
SUBMITTING = together(
    on("Idempotency", "BatchGetItem PutItem"), on("Jobs", "ConditionCheckItem GetItem PutItem")
)
# a transition: the row or its check, events; watchers are told, and dropped when they are gone
MOVING = together(
    on("Jobs", "ConditionCheckItem PutItem UpdateItem"),
    on("Jobs", "DeleteItem GetItem Query UpdateItem"),
    PUSHING,
)
# the end of a job: its endpoints, the jobs that tell them
NOTIFYING = together(on("Webhooks", "BatchGetItem"), SUBMITTING, MOVING)
HOST_PACE = on("Domains", "GetItem UpdateItem")
SITE_SETTINGS = on("Domains", "BatchGetItem")
CRAWLING = together(
    MOVING,
    NOTIFYING,
    HOST_PACE,
    SITE_SETTINGS,
    on("SecretsKey", "kms:Decrypt"),  # of proxies, whose use is counted beside the pace
    on("Documents", "GetItem PutItem"),
    on("Content", "s3:ListBucket"),  # a robots.txt that isn't there is a 404, not a 403
    on("Content/*", "s3:GetObject s3:PutObject"),
    on("Domain/chunks-*", "es:ESHttpHead es:ESHttpPut"),
    on("Domain/_bulk", "es:ESHttpPost"),
    on("Domain/chunks-*/_delete_by_query", "es:ESHttpPost"),
    sending("Delivery"),
)

NEEDED = {
    "CoreApi": together(
        KEYS,
        UPLOADED,
        on("Uploads/*", "s3:PutObject"),  # what a presigned form does, its signer must be allowed
        MOVING,
        on("Jobs", "BatchGetItem"),
        on("Jobs/index/*", "Query"),
        on("Idempotency", "BatchGetItem PutItem"),  # of a job that begins again
        sending(*EVERY_LANE),
        # readiness; the index's and the bucket's questions show nothing that is stored
        on("CrawlNormalQueue", "sqs:GetQueueAttributes"),
        on("Content", "s3:ListBucket"),
        on("Domain/_cluster/health", "es:ESHttpGet"),
    ),
    "LiveApi": together(
        ADMISSION, PUSHING, on("Jobs", "DeleteItem GetItem PutItem Query UpdateItem")
    ),
    "Sweeper": together(MOVING, NOTIFYING, on("Jobs/index/*", "Query"), sending(*EVERY_LANE)),
    "Redrive": together(
        sending(*EVERY_LANE),
        *(
            on(f"{lane}Dlq", "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage")
            for lane in EVERY_LANE
        ),
    ),
    "CrawlApi": together(
        ADMISSION,
        UPLOADED,
        SUBMITTING,
        MOVING,
        HOST_PACE,
        SITE_SETTINGS,
        on("Domains", "Query UpdateItem"),  # domain settings
        on("Domains", "DeleteItem GetItem PutItem Query UpdateItem"),  # proxies and their use
        on("Webhooks", "DeleteItem GetItem PutItem Query UpdateItem"),
        on("SecretsKey", "kms:Encrypt kms:Decrypt"),  # a proxy is tried with its credentials
        sending(*EVERY_LANE),
    ),
    "CrawlHighWorker": together(CRAWLING, sending("CrawlHigh")),
    "CrawlNormalWorker": together(CRAWLING, sending("CrawlNormal")),
    "CrawlLowWorker": together(CRAWLING, sending("CrawlLow")),
    "DeliveryWorker": together(
        MOVING,
        on("Webhooks", "DeleteItem GetItem PutItem UpdateItem"),  # endpoints, log, holds
        on("SecretsKey", "kms:Decrypt"),
        sending("Delivery"),
    ),
    "SearchApi": together(
        ADMISSION,
        UPLOADED,
        on("Documents", "BatchGetItem"),
        on("Domain/_msearch", "es:ESHttpPost"),
    ),
}

# What a call of an AWS client needs; a transaction's parts are calls of ours.
CALLS = {
    "batch_get_item": "dynamodb:BatchGetItem",
    "change_message_visibility": "sqs:ChangeMessageVisibility",
    "decrypt": "kms:Decrypt",
    "delete_connection": "execute-api:ManageConnections",
    "delete_item": "dynamodb:DeleteItem",
    "delete_message": "sqs:DeleteMessage",
    "encrypt": "kms:Encrypt",
    "generate_presigned_post": "s3:PutObject",
    "get_item": "dynamodb:GetItem",
    "get_object": "s3:GetObject",
    "get_queue_attributes": "sqs:GetQueueAttributes",
    "head_bucket": "s3:ListBucket",
    "post_to_connection": "execute-api:ManageConnections",
    "put_item": "dynamodb:PutItem",
    "put_object": "s3:PutObject",
    "query": "dynamodb:Query",
    "receive_message": "sqs:ReceiveMessage",
    "send_message": "sqs:SendMessage",
    "send_message_batch": "sqs:SendMessage",
    "transact_write_items": "dynamodb:ConditionCheckItem",
    "update_item": "dynamodb:UpdateItem",
    # OpenSearch's
    "bulk": "es:ESHttpPost",
    "create": "es:ESHttpPut",
    "delete_by_query": "es:ESHttpPost",
    "exists": "es:ESHttpHead",
    "health": "es:ESHttpGet",
    "msearch": "es:ESHttpPost",
}


@pytest.mark.parametrize("function", NEEDED)
def test_a_function_may_do_what_it_has_to_and_nothing_else(
    function: str, templates: Templates
) -> None:
    allowed, needed = permissions_of(function, templates), NEEDED[function]
    missing, unused = _beyond(needed, allowed), _beyond(allowed, needed)
    assert (missing, unused) == ({}, {}), "(missing, unused)"


def test_every_function_is_in_the_table(templates: Templates) -> None:
    assert set(NEEDED) == set(templates.functions())


def test_the_table_knows_every_call_that_the_code_makes() -> None:
    called = set(_calls(ROOT.glob("layers/common/spinneret/**/*.py")))
    assert called == set(CALLS)
    asked = {action for needs in NEEDED.values() for each in needs.values() for action in each}
    assert asked == set(CALLS.values())


def _beyond(these: Permissions, those: Permissions) -> Permissions:
    left = {where: actions - those.get(where, set()) for where, actions in these.items()}
    return {where: actions for where, actions in left.items() if actions}


# Names that clients have in the code, and those of their parts.
_CLIENTS = {"client", "_client", "dynamodb", "sqs", "s3", "index", "indices", "cluster"}
_IN_OTHER_CLIENTS = {"get", "request", "stream", "tokenize"}  # HTTP's


def _calls(paths: Iterable[object]) -> Iterable[str]:
    """Methods of AWS and OpenSearch clients that are called."""
    for path in paths:
        text = path.read_text()  # type: ignore[attr-defined]  # a Path
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Attribute(attr=method, value=owner)):
                    name = getattr(owner, "attr", getattr(owner, "id", None))
                    if name in _CLIENTS and method not in _IN_OTHER_CLIENTS:
                        yield method

"""Each function has the permissions that its code needs, and no others (T-04)."""

import ast
import importlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.architecture.conftest import ROOT, Templates
from tests.architecture.permissions.parts import together
from tests.architecture.permissions.reading import Permissions, permissions_of

_AREAS = sorted(
    path.stem
    for path in (Path(__file__).parent / "permissions").glob("*.py")
    if path.stem not in {"__init__", "parts", "reading", "recorded"}
)
NEEDED: dict[str, Permissions] = {}
_CALLS_OF_AREAS: dict[str, str] = {}
for area in _AREAS:
    module = importlib.import_module(f"tests.architecture.permissions.{area}")
    _CALLS_OF_AREAS |= getattr(module, "CALLS", {})
    for name, needs in module.NEEDED.items():
        NEEDED[name] = together(NEEDED.get(name, {}), needs)

# Permission that a call of an AWS client needs; the parts of a transaction are calls of our own
# code.
CALLS = _CALLS_OF_AREAS | {
    "batch_get_item": "dynamodb:BatchGetItem",
    "batch_write_item": "dynamodb:BatchWriteItem",
    "change_message_visibility": "sqs:ChangeMessageVisibility",
    "decrypt": "kms:Decrypt",
    "delete_connection": "execute-api:ManageConnections",
    "delete": "es:ESHttpDelete",
    "delete_item": "dynamodb:DeleteItem",
    "delete_objects": "s3:DeleteObject",
    "list_objects_v2": "s3:ListBucket",
    "delete_object": "s3:DeleteObjectVersion",
    "delete_message": "sqs:DeleteMessage",
    "encrypt": "kms:Encrypt",
    "generate_presigned_post": "s3:PutObject",
    "generate_presigned_url": "s3:GetObject",
    "get_item": "dynamodb:GetItem",
    "get_object": "s3:GetObject",
    "get_queue_attributes": "sqs:GetQueueAttributes",
    "head_object": "s3:GetObject",
    "list_object_versions": "s3:ListBucketVersions",
    "scan": "dynamodb:Scan",
    "search": "es:ESHttpPost",
    "update_aliases": "es:ESHttpPost",
    "head_bucket": "s3:ListBucket",
    "post_to_connection": "execute-api:ManageConnections",
    "put_events": "events:PutEvents",
    "put_item": "dynamodb:PutItem",
    "put_object": "s3:PutObject",
    "query": "dynamodb:Query",
    "receive_message": "sqs:ReceiveMessage",
    "send_message": "sqs:SendMessage",
    "send_message_batch": "sqs:SendMessage",
    "transact_write_items": "dynamodb:ConditionCheckItem",
    "update_item": "dynamodb:UpdateItem",
    # methods of OpenSearch clients
    "bulk": "es:ESHttpPost",
    "create": "es:ESHttpPut",
    "delete_by_query": "es:ESHttpPost",
    "get_alias": "es:ESHttpGet",
    "msearch": "es:ESHttpPost",
    "refresh": "es:ESHttpPost",
}


for area in _AREAS:
    CALLS |= getattr(importlib.import_module(f"tests.architecture.permissions.{area}"), "CALLS", {})

BY_HTTP = {"es:ESHttpGet"}
"""Permission for requests that readiness sends without a separate client (spinneret.aws.http)."""
BY_TAG = {"kms:TagResource"}
"""Additional permission of `create_key`, for the tags that it sets."""
BY_VERSION = {"s3:GetObjectVersion"}
"""Additional permission of `get_object` and `head_object`, for a version that they name."""

BY_OPERATOR = {"describe_rule"}
"""Calls of commands with an operator's credentials (spinneret.operations.doctor)."""


# covers T-04
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
    assert called == set(CALLS) | BY_OPERATOR
    asked = {action for needs in NEEDED.values() for each in needs.values() for action in each}
    assert asked == set(CALLS.values()) | BY_HTTP | BY_TAG | BY_VERSION


def _beyond(these: Permissions, those: Permissions) -> Permissions:
    left = {where: actions - those.get(where, set()) for where, actions in these.items()}
    return {where: actions for where, actions in left.items() if actions}


# Names of clients and of their parts in the code.
_CLIENTS = {"client", "_client", "dynamodb", "sqs", "s3", "indices", "cluster"}
_IN_OTHER_CLIENTS = {"get", "request", "stream", "tokenize"}  # methods of HTTP clients


def _calls(paths: Iterable[object]) -> Iterable[str]:
    """Yield the methods of AWS and OpenSearch clients that are called, or passed to a caller."""
    for path in paths:
        text = path.read_text()  # type: ignore[attr-defined]  # a Path
        if not any(name in text for name in _CLIENTS):
            continue  # most files, since only adapters have clients
        for node in ast.walk(ast.parse(text)):
            for each in (node.func, *node.args) if isinstance(node, ast.Call) else ():
                if isinstance(each, ast.Attribute):
                    name = getattr(each.value, "attr", getattr(each.value, "id", None))
                    if name in _CLIENTS and each.attr not in _IN_OTHER_CLIENTS:
                        yield each.attr

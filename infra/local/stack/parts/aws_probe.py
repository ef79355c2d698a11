"""Round trips through LocalStack: one for each essential service."""

import io
import json
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from stack.aws import client
from stack.errors import ProbeError
from stack.parts.part import probing
from stack.workspace import ACCOUNT

ACTIVE_SECONDS: Final = 60.0
_POLL_SECONDS = 0.1
_HANDLER = "def handle(event, context):\n    return {'echo': event['text']}\n"


def probe(url: str) -> None:
    """Raise ProbeError unless DynamoDB, SQS, S3 and Lambda each work."""
    with probing(BotoCoreError, ClientError):
        _round_trips(url, f"probe-{uuid.uuid4().hex[:12]}")


def _round_trips(url: str, name: str) -> None:
    probes = {"dynamodb": _dynamodb, "sqs": _sqs, "s3": _s3, "lambda": _lambda}
    clients = {service: client(service, url) for service in probes}
    with ThreadPoolExecutor(len(probes)) as pool:
        runs = [pool.submit(run, clients[service], name) for service, run in probes.items()]
    for run in runs:
        run.result()


def _dynamodb(dynamodb: Any, name: str) -> None:
    dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    try:
        put = {"TableName": name, "Item": {"id": {"S": "1"}}}
        condition = "attribute_not_exists(id)"
        dynamodb.put_item(**put, ConditionExpression=condition)
        try:
            dynamodb.put_item(**put, ConditionExpression=condition)
        except ClientError as error:
            _require(error.response["Error"]["Code"] == "ConditionalCheckFailedException", error)
        else:
            raise ProbeError("DynamoDB did not check the condition of a write")
        found = dynamodb.query(
            TableName=name,
            KeyConditionExpression="id = :id",
            ExpressionAttributeValues={":id": {"S": "1"}},
        )
        _require(found["Items"] == [put["Item"]], found)
    finally:
        dynamodb.delete_table(TableName=name)


def _sqs(sqs: Any, name: str) -> None:
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    try:
        sqs.send_message(QueueUrl=queue, MessageBody=name)
        answer = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)
        _require([message["Body"] for message in answer.get("Messages", ())] == [name], answer)
    finally:
        sqs.delete_queue(QueueUrl=queue)


def _s3(s3: Any, name: str) -> None:
    s3.create_bucket(Bucket=name)
    try:
        s3.put_object(Bucket=name, Key="key", Body=b"body")
        body = s3.get_object(Bucket=name, Key="key")["Body"].read()
        _require(body == b"body", body)
        s3.delete_object(Bucket=name, Key="key")
    finally:
        s3.delete_bucket(Bucket=name)


def _lambda(functions: Any, name: str) -> None:
    functions.create_function(
        FunctionName=name,
        Runtime="python3.12",
        Handler="probe.handle",
        Role=f"arn:aws:iam::{ACCOUNT}:role/probe",
        Code={"ZipFile": archive(_HANDLER)},
        Timeout=30,
    )
    try:
        _wait_until_active(functions, name)
        answer = functions.invoke(FunctionName=name, Payload=json.dumps({"text": name}))
        payload = answer["Payload"].read()
        _require("FunctionError" not in answer and json.loads(payload) == {"echo": name}, payload)
    finally:
        functions.delete_function(FunctionName=name)


def _wait_until_active(functions: Any, name: str) -> None:
    deadline = time.monotonic() + ACTIVE_SECONDS
    while True:
        configuration = functions.get_function(FunctionName=name)["Configuration"]
        if configuration["State"] == "Active":
            return
        _require(configuration["State"] == "Pending", configuration)
        if time.monotonic() > deadline:
            raise ProbeError(f"a function was not ready after {ACTIVE_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)


def archive(code: str) -> bytes:
    """Return a deployment package of one module, `probe`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        entry = zipfile.ZipInfo("probe.py")  # its fixed time makes all archives equal
        entry.external_attr = 0o644 << 16
        package.writestr(entry, code)
    return buffer.getvalue()


def _require(condition: bool, answer: object) -> None:
    if not condition:
        raise ProbeError(f"LocalStack gave an unexpected answer: {answer}")

"""AWS clients with bounds, and the one translation of their errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable

if TYPE_CHECKING:
    from types_boto3_apigatewaymanagementapi import ApiGatewayManagementApiClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_lambda import LambdaClient
    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient
    from types_boto3_stepfunctions import SFNClient

# A call ends within AWS_CALL_SECONDS, so that a hand-back which a worker begins at its deadline
# margin is written before the deadline. Retries live here; above it there are only `transact`, for
# answers that the SDK doesn't repeat, and the worker's outcome, which can't be rescheduled. All
# other work waits for longer outages by rescheduling its job.
CONFIG: Final = Config(
    connect_timeout=bounds.AWS_CONNECT_SECONDS,
    read_timeout=bounds.AWS_READ_SECONDS,
    retries={"mode": "standard", "total_max_attempts": bounds.AWS_TRIES},
    s3={"addressing_style": "path"},
    max_pool_connections=10,
)
# Bodies of megabytes take longer; no outcome of a job waits for a bucket. A call ends within the
# deadline margin, so that a worker that begins one at its last checkpoint isn't cut off in it.
BUCKETS: Final = CONFIG.merge(
    Config(
        read_timeout=bounds.AWS_BODY_SECONDS,
        signature_version="s3v4",  # what is presigned, too
    )
)

# Answers that say "later", by service: throttling, internal errors, and a stack that is being made.
_UNAVAILABLE: Final = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


def dynamodb_client() -> DynamoDBClient:
    """A client that takes and answers plain Python values instead of typed attribute maps."""
    client: DynamoDBClient = boto3.resource("dynamodb", config=CONFIG).meta.client
    return client


def sqs_client() -> SQSClient:
    """A client for queues."""
    client: SQSClient = boto3.client("sqs", config=CONFIG)
    return client


def stepfunctions_client() -> SFNClient:
    """A client for executions of state machines."""
    client: SFNClient = boto3.client("stepfunctions", config=CONFIG)
    return client


def s3_client() -> S3Client:
    """A client for buckets, addressing them by path."""
    client: S3Client = boto3.client("s3", config=BUCKETS)
    return client


def sockets_client(url: str, seconds: float) -> ApiGatewayManagementApiClient:
    """A client for the WebSocket connections behind `url`; one try within `seconds`."""
    once = Config(
        connect_timeout=seconds / 2, read_timeout=seconds / 2, retries={"total_max_attempts": 1}
    )
    client: ApiGatewayManagementApiClient = boto3.client(
        "apigatewaymanagementapi", endpoint_url=url, config=CONFIG.merge(once)
    )
    return client


def lambda_client(seconds: float) -> LambdaClient:
    """A client for functions that answer; one try within `seconds`."""
    connect = min(bounds.AWS_CONNECT_SECONDS, seconds / 4)
    once = Config(
        connect_timeout=connect,
        read_timeout=seconds - connect,
        retries={"total_max_attempts": 1},
    )
    client: LambdaClient = boto3.client("lambda", config=CONFIG.merge(once))
    return client


def error_code(error: ClientError) -> str:
    """The service's error code."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def translate_aws_errors(dependency: str) -> Iterator[None]:
    """Turn outages and throttling into DependencyUnavailable; a wrong call stays an exception."""
    try:
        yield
    except ParamValidationError:
        raise
    except BotoCoreError as error:
        raise DependencyUnavailable(dependency) from error
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if error_code(error) in _UNAVAILABLE or status >= 500:
            raise DependencyUnavailable(dependency) from error
        raise

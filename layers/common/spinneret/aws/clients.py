"""AWS clients with time bounds, and the translation of their errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from spinneret.aws.types import (
    ApiGatewayManagementApiClient,
    DynamoDBClient,
    LambdaClient,
    S3Client,
    SFNClient,
    SQSClient,
)
from spinneret.kernel import bounds, metrics
from spinneret.kernel.errors import DependencyUnavailable

_TRIES: Final = 2  # within AWS_CALL_SECONDS
_BODY_SECONDS: Final = 3.0  # S3 takes longer to send a body of megabytes

# A call ends within AWS_CALL_SECONDS, so that a worker that releases its job at the deadline margin
# finishes the write before the deadline. Retries happen here. Above this, only `transact` and the
# write of a worker's outcome retry: the SDK doesn't repeat some answers, and an outcome can't be
# rescheduled. All other work waits for longer outages by rescheduling its job.
CONFIG: Final = Config(
    connect_timeout=bounds.AWS_CONNECT_SECONDS,
    read_timeout=bounds.AWS_READ_SECONDS,
    retries={"mode": "standard", "total_max_attempts": _TRIES},
    max_pool_connections=16,  # as many as the relays of one sweep
)
# Bodies of megabytes take longer, and no outcome of a job waits for a bucket. A call ends within
# the deadline margin, so that a call started at a worker's last checkpoint isn't cut off.
BUCKETS: Final = CONFIG.merge(
    Config(
        read_timeout=_BODY_SECONDS,
        signature_version="s3v4",  # also for presigned URLs
    )
)

# Error codes for which a later retry may succeed: throttling, internal errors, and a stack that is
# being created.
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

# A key that is disabled, or about to be deleted, refuses as one without permission does.
_DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "DisabledException",
        "KMSAccessDeniedException",
        "KMSInvalidStateException",
    }
)


def dynamodb_client() -> DynamoDBClient:
    """Return a client that uses plain Python values instead of typed attribute maps."""
    client: DynamoDBClient = boto3.resource("dynamodb", config=CONFIG).meta.client
    return client


def sqs_client() -> SQSClient:
    """Return a client for queues."""
    client: SQSClient = boto3.client("sqs", config=CONFIG)
    return client


def stepfunctions_client() -> SFNClient:
    """Return a client for executions of state machines."""
    client: SFNClient = boto3.client("stepfunctions", config=CONFIG)
    return client


def s3_client(addressing_style: Literal["auto", "path", "virtual"]) -> S3Client:
    """Return a client for buckets, whose URLs have one of the SDK's forms."""
    style = Config(s3={"addressing_style": addressing_style})
    client: S3Client = boto3.client("s3", config=BUCKETS.merge(style))
    return client


def sockets_client(url: str, seconds: float) -> ApiGatewayManagementApiClient:
    """Return a client for the WebSocket connections behind `url`; one try within `seconds`."""
    once = Config(
        connect_timeout=seconds / 2, read_timeout=seconds / 2, retries={"total_max_attempts": 1}
    )
    client: ApiGatewayManagementApiClient = boto3.client(
        "apigatewaymanagementapi", endpoint_url=url, config=CONFIG.merge(once)
    )
    return client


def lambda_client(seconds: float) -> LambdaClient:
    """Return a client for functions that return a result; one try within `seconds`."""
    connect = min(bounds.AWS_CONNECT_SECONDS, seconds / 4)
    once = Config(
        connect_timeout=connect,
        read_timeout=seconds - connect,
        retries={"total_max_attempts": 1},
    )
    client: LambdaClient = boto3.client("lambda", config=CONFIG.merge(once))
    return client


def error_code(error: ClientError) -> str:
    """Return the service's error code."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def translate_aws_errors(dependency: str) -> Iterator[None]:
    """Map outages and throttling to DependencyUnavailable; re-raise the rest."""
    try:
        yield
    except ParamValidationError:
        raise
    except BotoCoreError as error:
        raise DependencyUnavailable(dependency) from error
    except ClientError as error:
        if error_code(error) in _DENIED:
            metrics.ACCESS_DENIED.add()
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if error_code(error) in _UNAVAILABLE or status >= 500:
            raise DependencyUnavailable(dependency) from error
        raise


@contextmanager
def translate_all_errors(dependency: str) -> Iterator[None]:
    """Map every error to DependencyUnavailable with its code; for reports to an operator."""
    try:
        with translate_aws_errors(dependency):
            yield
    except ClientError as error:
        raise DependencyUnavailable(dependency, f"answers {error_code(error)}") from error

"""GetFunction signs the URL of a function's code with a client that is kept.

Upstream: services/lambda_/invocation/lambda_models.py, S3Code.generate_presigned_url makes a client
of S3 for each URL, which takes 50 ms of processor time.
Effect: CloudFormation reads every new function several times; creating 38 of them takes 15 seconds
longer.
"""

import functools
import inspect
from typing import Any

import boto3  # type: ignore[import-untyped]  # LocalStack brings no stubs of it
from localstack import config
from localstack.constants import AWS_REGION_US_EAST_1, INTERNAL_AWS_SECRET_ACCESS_KEY
from localstack.services.lambda_.invocation.lambda_models import S3Code
from localstack.utils.patch import patch


@functools.cache
def _client(endpoint_url: str) -> Any:
    return boto3.client(
        "s3",
        region_name=AWS_REGION_US_EAST_1,
        aws_access_key_id=config.INTERNAL_RESOURCE_ACCOUNT,
        aws_secret_access_key=INTERNAL_AWS_SECRET_ACCESS_KEY,
        endpoint_url=endpoint_url,
    )


def apply() -> None:
    @patch(S3Code.generate_presigned_url)
    def generate_presigned_url(_: Any, code: S3Code, endpoint_url: str) -> str:
        place = {"Bucket": code.s3_bucket, "Key": code.s3_key}
        if code.s3_object_version:
            place["VersionId"] = code.s3_object_version
        url: str = _client(endpoint_url).generate_presigned_url("get_object", Params=place)
        return url


def is_needed() -> bool:
    return "boto3.client(" in inspect.getsource(S3Code.generate_presigned_url)

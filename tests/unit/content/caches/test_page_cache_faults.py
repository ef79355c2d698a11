"""Responses of S3 that report a fault although their status is 200."""

import boto3
import pytest
from botocore.stub import Stubber

from spinneret.content.caches.s3 import S3PageCache
from spinneret.kernel.errors import DependencyUnavailable

KEY = "FETCHED/T/acme/1.gz"


def test_pages_that_s3_keeps_are_not_called_cleared() -> None:
    client = boto3.client(
        "s3", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as answers:
        answers.add_response("list_objects_v2", {"Contents": [{"Key": KEY}], "IsTruncated": False})
        failure = {"Key": KEY, "Code": "InternalError", "Message": "try again"}
        answers.add_response("delete_objects", {"Errors": [failure]})
        with pytest.raises(DependencyUnavailable):
            S3PageCache(client, "content").clear("acme")

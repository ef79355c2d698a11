"""Requests for single objects, which the adapters on S3 share."""

from typing import IO

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import S3Client


class BucketAdapter:
    """Base of the adapters on S3: a client, and the bucket of their objects.

    All methods raise DependencyUnavailable.
    """

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def _put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        with translate_aws_errors("s3"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type)

    def _read(self, key: str) -> bytes | None:
        """Return the whole object, or None if it is missing."""
        try:
            with translate_aws_errors("s3"):
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise

    def _link(self, key: str, seconds: int, **response: str) -> str:
        """Return a presigned URL, without a request. `response` sets headers of its response, such
        as `ResponseContentType`."""
        asked = {"Bucket": self._bucket, "Key": key, **response}
        with translate_aws_errors("s3"):
            return self._client.generate_presigned_url("get_object", asked, ExpiresIn=seconds)

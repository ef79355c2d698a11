"""Uploads in a separate bucket, whose lifecycle rule removes them after a day."""

from collections.abc import Mapping
from typing import Final

from botocore.exceptions import ClientError

from spinneret.access import limits
from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.kernel.errors import BodyTooLarge

_MEDIA_TYPE: Final = "application/json"


class S3UploadStore(BucketAdapter):
    """Implements UploadStore by presigned POST policies, which S3 enforces.

    https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
    """

    def form(self, tenant: str, upload_id: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """See UploadStore; no request; the signing role must be valid until the form expires."""
        with translate_aws_errors("s3"):
            made = self._client.generate_presigned_post(
                Bucket=self._bucket,
                Key=_key(tenant, upload_id),
                Fields={"Content-Type": _MEDIA_TYPE},
                Conditions=[
                    {"Content-Type": _MEDIA_TYPE},
                    ["content-length-range", 1, limits.UPLOAD_MAX_BYTES],
                ],
                ExpiresIn=seconds,
            )
        return made["url"], made["fields"]

    def read(self, tenant: str, upload_id: str) -> bytes | None:
        try:
            with translate_aws_errors("s3"):
                found = self._client.get_object(Bucket=self._bucket, Key=_key(tenant, upload_id))
                if found["ContentLength"] > limits.UPLOAD_MAX_BYTES:
                    raise BodyTooLarge(f"an upload has at most {limits.UPLOAD_MAX_BYTES} bytes")
                return found["Body"].read()
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise


def _key(tenant: str, upload_id: str) -> str:
    return f"T/{tenant}/{upload_id}"

"""Objects of audits in S3, under their tenant.

`T/<tenant>/audits/<id>/<run>/…`: pages by the hash of their content, facts and reports by name.
"""

from typing import IO

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import S3Client


class S3AuditObjectStore:
    """Implements AuditObjectStore."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        with translate_aws_errors("s3"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type)

    def get(self, key: str) -> bytes | None:
        try:
            with translate_aws_errors("s3"):
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise

    def url(self, key: str, *, file_name: str, media_type: str, seconds: int) -> str:
        """See AuditObjectStore; no request."""
        with translate_aws_errors("s3"):
            return self._client.generate_presigned_url(
                "get_object",
                Params={
                    "Bucket": self._bucket,
                    "Key": key,
                    "ResponseContentType": media_type,
                    "ResponseContentDisposition": f'attachment; filename="{file_name}"',
                },
                ExpiresIn=seconds,
            )

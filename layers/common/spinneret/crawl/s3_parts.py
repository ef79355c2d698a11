"""Parts of crawled pages in the content bucket, keyed by document and hash."""

import hashlib

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import S3Client
from spinneret.content.documents.rules import parts_prefix


class S3PartStore:
    """Implements PartStore."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keep(self, tenant: str, document_id: str, parts: str) -> str:
        body = parts.encode()
        key = f"{parts_prefix(tenant, document_id)}{hashlib.sha256(body).hexdigest()}.json"
        with translate_aws_errors("s3"):
            self._client.put_object(
                Bucket=self._bucket, Key=key, Body=body, ContentType="application/json"
            )
        return key

    def read(self, key: str) -> str | None:
        try:
            with translate_aws_errors("s3"):
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read().decode()
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise

    def link(self, key: str, seconds: int) -> str:
        """See PartStore; sends no request."""
        with translate_aws_errors("s3"):
            return self._client.generate_presigned_url(
                "get_object", Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=seconds
            )

"""Objects of media jobs in a bucket of their own, whose lifecycle rule removes them.

`T/<tenant>/<job id>.<suffix>`              output of a job: a retry writes the same object again
`T/<tenant>/scripts/<scripts id>.json`      scripts that a job will run
"""

import json
from collections.abc import Sequence

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import S3Client
from spinneret.jobs.models import JobRef
from spinneret.media.models import MEDIA_TYPES


class S3MediaStore:
    """Implements MediaStore."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keep(self, ref: JobRef, media_type: str, body: bytes) -> str:
        key = f"T/{ref.tenant}/{ref.job_id}{MEDIA_TYPES[media_type]}"
        self._put(key, media_type, body)
        return key

    def link(self, key: str, seconds: int) -> str:
        """See MediaStore; sends no request."""
        with translate_aws_errors("s3"):
            return self._client.generate_presigned_url(
                "get_object", Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=seconds
            )

    def keep_scripts(self, tenant: str, scripts_id: str, sources: Sequence[str]) -> None:
        body = json.dumps(list(sources), ensure_ascii=False).encode()
        self._put(_scripts_key(tenant, scripts_id), "application/json", body)

    def scripts(self, tenant: str, scripts_id: str) -> tuple[str, ...] | None:
        try:
            with translate_aws_errors("s3"):
                found = self._client.get_object(
                    Bucket=self._bucket, Key=_scripts_key(tenant, scripts_id)
                )
                return tuple(json.loads(found["Body"].read()))
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise

    def _put(self, key: str, media_type: str, body: bytes) -> None:
        with translate_aws_errors("s3"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type)


def _scripts_key(tenant: str, scripts_id: str) -> str:
    return f"T/{tenant}/scripts/{scripts_id}.json"

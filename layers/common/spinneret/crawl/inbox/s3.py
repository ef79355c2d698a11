"""Inbox in a separate S3 bucket.

Files and their reports are under `T/<tenant>/inbox/` for 37 days. Outcomes are under `parts/` until
the report is written; no event rule matches them, and a lifecycle rule removes them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import CompletedPartTypeDef
from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import InboxFile
from spinneret.kernel import bounds
from spinneret.kernel.errors import NotFound

_GONE: Final = frozenset({"404", "NoSuchKey", "NoSuchVersion", "MethodNotAllowed", "405"})
_MEDIA_TYPE: Final = "application/x-ndjson"
_VERSION: Final = "file-version"  # metadata of a report: the version of its file


class S3InboxStore(BucketAdapter):
    """Implements InboxStore with presigned POST policies, range reads and conditional uploads.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
    """

    def form(self, key: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """See InboxStore; sends no request."""
        with translate_aws_errors("s3"):
            made = self._client.generate_presigned_post(
                Bucket=self._bucket,
                Key=key,
                Conditions=[["content-length-range", 0, bounds.INBOX_MAX_BYTES]],
                ExpiresIn=seconds,
            )
        return made["url"], made["fields"]

    def link(self, key: str, seconds: int) -> str:
        """See InboxStore; sends no request."""
        return self._link(key, seconds)

    def size(self, file: InboxFile) -> int:
        try:
            with translate_aws_errors("s3"):
                found = self._client.head_object(
                    Bucket=self._bucket, Key=file.key, VersionId=file.version
                )
        except ClientError as error:
            raise _missing(error) from error
        return found["ContentLength"]

    def read(self, file: InboxFile, first: int, end: int) -> bytes:
        try:
            with translate_aws_errors("s3"):
                found = self._client.get_object(
                    Bucket=self._bucket,
                    Key=file.key,
                    VersionId=file.version,
                    Range=f"bytes={first}-{end - 1}",
                )
                return found["Body"].read()
        except ClientError as error:
            raise _missing(error) from error

    def keep(self, key: str, body: bytes) -> None:
        self._put(key, body, _MEDIA_TYPE)

    def kept(self, prefix: str) -> Iterator[bytes]:
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": prefix}
        while True:
            with translate_aws_errors("s3"):
                page = self._client.list_objects_v2(**asked)
            for each in page.get("Contents", []):
                with translate_aws_errors("s3"):
                    found = self._client.get_object(Bucket=self._bucket, Key=each["Key"])
                    body = found["Body"].read()
                yield body
            if not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def report(self, file: InboxFile, lines: Iterable[bytes]) -> bool:
        """See InboxStore; doesn't replace a report that another process writes meanwhile."""
        former = self._reported(file.report_key)
        if former is not None and former["Metadata"].get(_VERSION) == file.version:
            return False
        condition: dict[str, Any] = (
            {"IfNoneMatch": "*"} if former is None else {"IfMatch": former["ETag"]}
        )
        try:
            with translate_aws_errors("s3"):
                self._write(file, lines, condition)
        except ClientError as error:
            if error_code(error) in ("PreconditionFailed", "ConditionalRequestConflict"):
                return False
            raise
        return True

    def _write(self, file: InboxFile, lines: Iterable[bytes], condition: Mapping[str, Any]) -> None:
        place: dict[str, Any] = {"Bucket": self._bucket, "Key": file.report_key}
        facts: dict[str, Any] = {
            "ContentType": _MEDIA_TYPE,
            "Metadata": {_VERSION: file.version},
        }
        upload = ""
        parts: list[CompletedPartTypeDef] = []
        for body, is_last in _pieces(lines):
            if is_last and not upload:
                self._client.put_object(**place, **facts, **condition, Body=body)
                return
            if not upload:
                upload = self._client.create_multipart_upload(**place, **facts)["UploadId"]
            number = len(parts) + 1
            etag = self._client.upload_part(**place, UploadId=upload, PartNumber=number, Body=body)[
                "ETag"
            ]
            parts.append({"ETag": etag, "PartNumber": number})
        self._client.complete_multipart_upload(
            **place, **condition, UploadId=upload, MultipartUpload={"Parts": parts}
        )

    def _reported(self, key: str) -> Any | None:
        try:
            with translate_aws_errors("s3"):
                return self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error_code(error) in _GONE:
                return None
            raise


def _pieces(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield parts of a multipart upload, with a flag for the last part, which may be empty."""
    held, size = list[bytes](), 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= limits.INBOX_REPORT_PART_BYTES:
            yield b"".join(held), False
            held, size = [], 0
    yield b"".join(held), True


def _missing(error: ClientError) -> Exception:
    """Return NotFound for a missing object, otherwise the error itself."""
    return NotFound("the file is gone") if error_code(error) in _GONE else error

"""Bodies in S3, keyed by tenant and content hash; writes are idempotent."""

import hashlib
import re
from contextlib import closing
from datetime import datetime
from math import inf
from typing import Any, Final

from botocore.exceptions import ClientError

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import ObjectTypeDef
from spinneret.content.documents.models import StoredBody, StoredPart
from spinneret.content.documents.rules import PARTS, parts_prefix
from spinneret.kernel.paging import Page

_MEDIA_TYPE: Final = "text/markdown; charset=utf-8"
_OF_TENANTS: Final = "T/"
# Other packages, such as audits, store their own objects in this bucket.
_PART: Final = re.compile(rf"{PARTS}([^/]+)/([^/]+)/[^/]+")
_BODY: Final = re.compile(r"T/([^/]+)/content/[0-9a-f]{64}\.md")


class S3ContentStore(BucketAdapter):
    """Implements ContentStore."""

    def put(self, tenant: str, text: str) -> str:
        body = text.encode()
        key = f"{_OF_TENANTS}{tenant}/content/{hashlib.sha256(body).hexdigest()}.md"
        self._put(key, body, _MEDIA_TYPE)
        return key

    def get(self, key: str) -> str:
        return self.get_upload(key).decode()

    def get_small(self, key: str, most: int) -> str | None:
        """See ContentStore; the size is known before the body is read."""
        body = self._body(key, most)
        return None if body is None else body.decode()

    def put_upload(self, tenant: str, body: bytes) -> str:
        """See ContentStore; the bucket's lifecycle removes objects below `uploads/`."""
        key = f"uploads/T/{tenant}/{hashlib.sha256(body).hexdigest()}"
        with translate_aws_errors("s3"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body)
        return key

    def get_upload(self, key: str) -> bytes:
        body = self._body(key)
        assert body is not None  # no size limit was given
        return body

    def _body(self, key: str, most: float = inf) -> bytes | None:
        """Return the body, or None if larger than `most` bytes. Raises KeyError."""
        try:
            with translate_aws_errors("s3"):
                found = self._client.get_object(Bucket=self._bucket, Key=key)
                with closing(found["Body"]) as body:
                    return body.read() if found["ContentLength"] <= most else None
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                raise KeyError(key) from error
            raise

    def exists(self, key: str) -> bool:
        try:
            with translate_aws_errors("s3"):
                self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error_code(error) in {"404", "NoSuchKey"}:
                return False
            raise
        return True

    def remove(self, key: str, before: datetime) -> None:
        """See ContentStore. Removes single versions, so that concurrent writes survive."""
        with translate_aws_errors("s3"):
            answer = self._client.list_object_versions(Bucket=self._bucket, Prefix=key)
            for version in answer.get("Versions", []):
                if version["Key"] == key and version["LastModified"] < before:
                    self._client.delete_object(
                        Bucket=self._bucket, Key=key, VersionId=version["VersionId"]
                    )

    def stored(self, after: str | None, limit: int) -> Page[StoredBody]:
        objects, following = self._listed(_OF_TENANTS, after, limit)
        return Page(
            items=tuple(
                StoredBody(tenant=key[1], key=each["Key"], stored_at=each["LastModified"])
                for each in objects
                if (key := _BODY.fullmatch(each["Key"]))
            ),
            after=following,
        )

    def stored_parts(self, after: str | None, limit: int) -> Page[StoredPart]:
        objects, following = self._listed(PARTS, after, limit)
        return Page(
            items=tuple(
                StoredPart(
                    tenant=key[1],
                    document_id=key[2],
                    key=each["Key"],
                    stored_at=each["LastModified"],
                )
                for each in objects
                if (key := _PART.fullmatch(each["Key"]))
            ),
            after=following,
        )

    def _listed(
        self, prefix: str, after: str | None, limit: int
    ) -> tuple[list[ObjectTypeDef], str | None]:
        asked: dict[str, Any] = {"StartAfter": after} if after else {}
        with translate_aws_errors("s3"):
            answer = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=prefix, MaxKeys=limit, **asked
            )
        objects = answer.get("Contents", [])
        return objects, objects[-1]["Key"] if answer["IsTruncated"] else None

    def remove_parts(self, tenant: str, document_id: str, before: datetime) -> None:
        """See ContentStore. Removes all versions and delete markers."""
        asked: dict[str, Any] = {}
        while True:
            with translate_aws_errors("s3"):
                answer = self._client.list_object_versions(
                    Bucket=self._bucket, Prefix=parts_prefix(tenant, document_id), **asked
                )
                for each in (*answer.get("Versions", []), *answer.get("DeleteMarkers", [])):
                    if each["LastModified"] >= before:
                        continue
                    self._client.delete_object(
                        Bucket=self._bucket, Key=each["Key"], VersionId=each["VersionId"]
                    )
            if not answer["IsTruncated"]:
                return
            asked = {
                "KeyMarker": answer["NextKeyMarker"],
                "VersionIdMarker": answer["NextVersionIdMarker"],
            }

    def url(self, key: str, *, seconds: int) -> str:
        """See ContentStore; sends no request."""
        return self._link(key, seconds, ResponseContentType=_MEDIA_TYPE)

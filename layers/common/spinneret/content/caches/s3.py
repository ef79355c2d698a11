"""Counts and clears the pages that crawls cached on S3.

Crawls write `FETCHED/T/<tenant>/<fingerprint>.gz`: a gzipped line of JSON, followed by the body.
The `url` in that line is the page's URL.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.kernel.errors import DependencyUnavailable

_HEAD_BYTES: Final = 16 * 1024  # compressed; the line holds two URLs of 2 KB each and the redirects
_PAGE: Final = 1000  # maximum of ListObjectsV2 and DeleteObjects
_READERS: Final = 8  # less than the client's connection pool


class S3PageCache(BucketAdapter):
    """Implements PageCache."""

    def count(self, tenant: str) -> tuple[int, bool]:
        """See PageCache; sends one request."""
        with translate_aws_errors("s3"):
            answer = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=_prefix(tenant), MaxKeys=_PAGE
            )
        return answer["KeyCount"], not answer["IsTruncated"]

    def clear(self, tenant: str) -> None:
        for keys in self._listed(tenant):
            self._remove(keys)

    def clear_host(self, tenant: str, host: str) -> None:
        """See PageCache; reads the beginning of each page."""
        with ThreadPoolExecutor(_READERS) as readers:
            for keys in self._listed(tenant):
                hosts = readers.map(self._host_of, keys)
                self._remove([key for key, of in zip(keys, hosts, strict=True) if of == host])

    def _listed(self, tenant: str) -> Iterator[list[str]]:
        start = _prefix(tenant)
        while True:
            with translate_aws_errors("s3"):
                answer = self._client.list_objects_v2(
                    Bucket=self._bucket, Prefix=_prefix(tenant), StartAfter=start, MaxKeys=_PAGE
                )
            keys = [each["Key"] for each in answer.get("Contents", [])]
            if keys:
                yield keys
            if not answer["IsTruncated"]:
                return
            start = keys[-1]

    def _host_of(self, key: str) -> str | None:
        try:
            with translate_aws_errors("s3"):
                answer = self._client.get_object(
                    Bucket=self._bucket, Key=key, Range=f"bytes=0-{_HEAD_BYTES - 1}"
                )
                data = answer["Body"].read()
            line = zlib.decompressobj(wbits=31).decompress(data).partition(b"\n")[0]
            return urlsplit(str(json.loads(line)["url"])).hostname
        except ClientError as error:
            if error_code(error) == "NoSuchKey":
                return None
            raise
        except (zlib.error, ValueError, KeyError):  # crawls ignore such an object, too
            return None

    def _remove(self, keys: Sequence[str]) -> None:
        if not keys:
            return
        with translate_aws_errors("s3"):
            answer = self._client.delete_objects(
                Bucket=self._bucket,
                Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True},
            )
        if errors := answer.get("Errors"):
            raise DependencyUnavailable("s3", f"refused {len(errors)} deletions")


def _prefix(tenant: str) -> str:
    return f"FETCHED/T/{tenant}/"

"""Fetch cache in S3.

`FETCHED/T/<tenant>/<fingerprint of the request>.gz`   a line of JSON and the body after it, gzipped

Keys begin with `FETCHED/` before the tenant, since S3's lifecycle rules match key prefixes. The
bucket's rule removes objects with this prefix after a day.
"""

import gzip
import json
import logging
import zlib
from typing import Any, Final

from botocore.exceptions import ClientError

from spinneret.aws.bucket import BucketAdapter
from spinneret.crawl.ports import CachedPage
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import DependencyUnavailable, UrlInvalid
from spinneret.web.exploring.robots_tags import HEADER
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import parse_url

logger = logging.getLogger(__name__)

_KEPT_HEADERS: Final = ("etag", "last-modified", HEADER)
# Errors of objects that aren't gzip, are truncated, or have another release's format.
_UNREADABLE: Final = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, UrlInvalid)
_LEVEL: Final = 1  # gzip level: slightly larger objects, but faster fetches


class S3FetchCache(BucketAdapter):
    """Implements FetchCache; see the module's docstring for the keys."""

    def find(self, tenant: str, key: str) -> CachedPage | None:
        try:
            data = self._read(_name(tenant, key))
        except ClientError as error:
            raise DependencyUnavailable("s3") from error
        try:
            return None if data is None else _unpacked(data)
        except _UNREADABLE as error:
            facts = {"error_type": type(error).__name__, "key": key}
            logger.warning("fetch_cache_unreadable", extra=facts)
            return None

    def keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        try:
            self._put(_name(tenant, key), _packed(kept), "application/gzip")
        except ClientError as error:  # a cache that can't be written must not fail the crawl
            raise DependencyUnavailable("s3") from error


def _name(tenant: str, key: str) -> str:
    return f"FETCHED/T/{tenant}/{key}.gz"


def _packed(kept: CachedPage) -> bytes:
    page = kept.page
    known = {
        "requested": page.requested.text,
        "url": page.url.text,
        "status_code": page.status_code,
        "headers": {name: page.headers[name] for name in _KEPT_HEADERS if name in page.headers},
        "media_type": page.media_type,
        "charset": page.charset,
        "redirects": page.redirects,
        "duration_ms": page.duration_ms,
        "fetched_at": to_iso(kept.fetched_at),
        "run": kept.run,
    }
    return gzip.compress(json.dumps(known).encode() + b"\n" + page.body, _LEVEL, mtime=0)


def _unpacked(data: bytes) -> CachedPage:
    line, _, body = gzip.decompress(data).partition(b"\n")
    known: dict[str, Any] = json.loads(line)
    page = FetchedPage(
        requested=parse_url(known["requested"]),
        url=parse_url(known["url"]),
        status_code=known["status_code"],
        headers=known["headers"],
        media_type=known["media_type"],
        charset=known["charset"],
        body=body,
        redirects=tuple(known["redirects"]),
        duration_ms=known["duration_ms"],
    )
    return CachedPage(page=page, fetched_at=parse_stamp(known["fetched_at"]), run=known["run"])

"""Counts and removal of pages that crawls cached, on moto and the stack's S3."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from spinneret.content.caches.s3 import S3PageCache
from tests.contract.backends import OF_REAL_AWS

pytestmark = OF_REAL_AWS


# covers S-05
def test_pages_are_cleared_by_tenant_and_by_host(
    client_of: Callable[[str], Any], bucket: str, tenant: str
) -> None:
    client = client_of("s3")
    pages = S3PageCache(client, bucket)
    other = f"{tenant}x"
    for owner in (tenant, other):
        for number, host in enumerate(["a.example", "a.example", "b.example"]):
            line = json.dumps({"url": f"https://{host}:8443/{number}", "requested": "x" * 2000})
            body = gzip.compress(line.encode() + b"\n" + bytes(range(256)) * 1000)
            client.put_object(Bucket=bucket, Key=f"FETCHED/T/{owner}/{number}.gz", Body=body)
    client.put_object(Bucket=bucket, Key=f"FETCHED/T/{tenant}/broken.gz", Body=b"no gzip")
    assert pages.count(tenant) == (4, True)
    pages.clear_host(tenant, "a.example")
    assert (pages.count(tenant), pages.count(other)) == ((2, True), (3, True))
    pages.clear(tenant)
    assert (pages.count(tenant), pages.count(other)) == ((0, True), (3, True))

"""Contract tests of fetch caches: the fake, moto, and S3 of the stack."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.crawl.ports import CachedPage, FetchCache
from spinneret.crawl.s3 import S3FetchCache
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.web.fetching.models import FetchedPage
from tests.contract.backends import OF_AWS, OF_REAL_AWS
from tests.fakes.fetch_cache import FakeFetchCache
from tests.fakes.fetching import fetched_page
from tests.fakes.time import START

URL = "https://site.example/page"
KEY = "a" * 64


@pytest.fixture
def cache(client_of: Callable[[str], Any] | None, bucket: str | None) -> FetchCache:
    if client_of is None or bucket is None:
        return FakeFetchCache()
    return S3FetchCache(client_of("s3"), bucket)


def kept(page: FetchedPage, seconds: float = 0) -> CachedPage:
    return CachedPage(page=page, fetched_at=START + timedelta(seconds=seconds), run="job_1/1")


PAGES = {
    "usual": fetched_page(URL),
    "any bytes": fetched_page(URL, b"\n\x00\xff\r\n{}\n", charset=None, media_type="text/plain"),
    "redirected": fetched_page(
        "https://other.example:8443/final?b=2&a=1", redirects=(URL, "http://[2606:4700::1111]/")
    ),
    "validators": fetched_page(
        URL, headers={"etag": 'W/"x\u00e9"', "last-modified": "Fri, 02 Jan 2026 12:00:00 GMT"}
    ),
    "large": fetched_page(URL, b"<p>spider</p>" * 400_000),
}


@OF_AWS
@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_is_found_as_it_was_kept(cache: FetchCache, tenant: str, name: str) -> None:
    cache.keep(tenant, KEY, kept(PAGES[name], 0.25))
    assert cache.find(tenant, KEY) == kept(PAGES[name], 0.25)


@OF_AWS
def test_the_last_page_of_a_key_is_kept(cache: FetchCache, tenant: str) -> None:
    cache.keep(tenant, KEY, kept(fetched_page(URL, "old")))
    cache.keep(tenant, KEY, kept(fetched_page(URL, "new"), 1))
    assert cache.find(tenant, KEY) == kept(fetched_page(URL, "new"), 1)


@OF_AWS
def test_tenants_and_requests_are_kept_apart(cache: FetchCache, tenant: str) -> None:
    assert cache.find(tenant, KEY) is None
    cache.keep(tenant, KEY, kept(fetched_page(URL)))
    assert cache.find(f"{tenant}x", KEY) is None
    assert cache.find(tenant, "b" * 64) is None


@OF_AWS
def test_no_header_is_kept_but_validators_and_robots_tags(cache: FetchCache, tenant: str) -> None:
    known = {"etag": '"1"', "x-robots-tag": "nofollow"}
    page = fetched_page(URL, headers={"set-cookie": "session=1", "date": "today", **known})
    cache.keep(tenant, KEY, kept(page))
    assert cache.find(tenant, KEY) == kept(replace(page, headers=known))


@OF_REAL_AWS
@pytest.mark.parametrize("data", [b"", b"no gzip", b"\x1f\x8b\x08", "cut", "other form"], ids=repr)
def test_what_can_not_be_read_is_not_there(
    cache: FetchCache, client_of: Callable[[str], Any], bucket: str, tenant: str, data: bytes | str
) -> None:
    cache.keep(tenant, KEY, kept(fetched_page(URL, b"<p>spider</p>" * 100)))
    client, name = client_of("s3"), f"FETCHED/T/{tenant}/{KEY}.gz"
    whole = client.get_object(Bucket=bucket, Key=name)["Body"].read()
    body = {"cut": whole[:-20], "other form": _GZIPPED_TEXT}.get(str(data), data)
    client.put_object(Bucket=bucket, Key=name, Body=body)
    assert cache.find(tenant, KEY) is None


_GZIPPED_TEXT = bytes.fromhex("1f8b0800000000000003ab56ca48cdc9c9570200") + b"broken"


@OF_REAL_AWS
def test_a_bucket_that_refuses_is_unavailable(client_of: Callable[[str], Any], tenant: str) -> None:
    cache = S3FetchCache(client_of("s3"), "spinneret-no-such-bucket")
    with pytest.raises(DependencyUnavailable):
        cache.find(tenant, KEY)
    with pytest.raises(DependencyUnavailable):
        cache.keep(tenant, KEY, kept(fetched_page(URL)))

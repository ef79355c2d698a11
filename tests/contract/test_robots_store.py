"""Contract tests of stores of robots.txt files: the fake, moto, and S3 of the stack."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spinneret.web.politeness.ports import RobotsStore
from spinneret.web.politeness.robots_policy import StoredRobots
from spinneret.web.politeness.s3 import S3RobotsStore
from tests.contract.backends import OF_AWS
from tests.fakes.politeness import FakeRobotsStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def robots(client_of: Callable[[str], Any] | None, bucket: str | None) -> RobotsStore:
    if client_of is None or bucket is None:
        return FakeRobotsStore()
    return S3RobotsStore(client_of("s3"), bucket)


@pytest.mark.parametrize(
    "kept",
    [
        StoredRobots(check_at=START),
        StoredRobots(check_at=START, closed=True),
        StoredRobots(check_at=START + timedelta(days=1), read_at=START, content=b""),
        StoredRobots(
            check_at=START, read_at=START, content=b"User-agent: *\r\nDisallow: /\xff\x00"
        ),
        StoredRobots(check_at=START, read_at=START, content=b"#" * 500 * 1024),
    ],
    ids=["nothing", "closed", "none there", "bytes", "large"],
)
def test_what_is_kept_is_found_again(robots: RobotsStore, kept: StoredRobots) -> None:
    robots.keep("https://site.example", StoredRobots(check_at=START, closed=True))
    robots.keep("https://site.example", kept)
    assert robots.find("https://site.example") == kept


def test_origins_are_kept_apart(robots: RobotsStore) -> None:
    origins = ["http://a.example", "https://a.example", "https://a.example:8443", "http://[::1]"]
    for number, origin in enumerate(origins):
        robots.keep(origin, StoredRobots(check_at=START, read_at=START, content=b"%d" % number))
    found = [robots.find(origin) for origin in origins]
    assert [kept.content for kept in found if kept] == [b"0", b"1", b"2", b"3"]
    assert robots.find("https://b.example") is None

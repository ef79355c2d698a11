"""Contract tests of stores of redirect progress: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.web import limits
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, RedirectProgress
from spinneret.web.ports import ProgressStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.politeness import FakeProgressStore
from tests.fakes.time import START

pytestmark = OF_AWS


def url(name: str) -> Url:
    return parse_url(f"https://{name}.example:8443/page?a=%20{'x' * 500}&a=1")


ONE, OTHER, THIRD = url("one"), url("other"), url("third")
PROGRESS = RedirectProgress(left=(ONE, OTHER, ONE), url=THIRD)


@pytest.fixture
def progress(tables: Tables | None) -> ProgressStore:
    if tables is None:
        return FakeProgressStore()
    return DynamoProgressStore(tables.client, tables.names["Domains"])


@pytest.fixture
def caller(tenant: str) -> Caller:
    return Caller(tenant=tenant, id="job_1/1")


def test_what_was_kept_is_found_until_it_is_dropped(
    progress: ProgressStore, caller: Caller
) -> None:
    assert progress.find(caller, ONE, START) is None
    for _ in range(2):
        progress.keep(caller, PROGRESS, START)
        assert progress.find(replace(caller, reservation="x"), ONE, START) == PROGRESS
    for _ in range(2):
        progress.drop(caller, ONE)
        assert progress.find(caller, ONE, START) is None
    progress.keep(caller, PROGRESS, START)
    assert progress.find(caller, ONE, START) == PROGRESS


def test_later_progress_replaces_the_former(progress: ProgressStore, caller: Caller) -> None:
    progress.keep(caller, PROGRESS, START)
    further = RedirectProgress(left=(*PROGRESS.left, THIRD), url=OTHER)
    progress.keep(caller, further, START)
    assert progress.find(caller, ONE, START) == further


def test_progress_belongs_to_one_fetch_of_one_caller(
    progress: ProgressStore, caller: Caller
) -> None:
    progress.keep(caller, PROGRESS, START)
    assert progress.find(caller, OTHER, START) is None
    assert progress.find(replace(caller, id="job_1/2"), ONE, START) is None
    assert progress.find(replace(caller, tenant=f"{caller.tenant}x"), ONE, START) is None


def test_progress_ends_with_its_time(progress: ProgressStore, caller: Caller) -> None:
    progress.keep(caller, PROGRESS, START)
    end = START + timedelta(seconds=limits.REDIRECTS_KEPT_SECONDS)
    assert progress.find(caller, ONE, end - timedelta(seconds=1)) == PROGRESS
    assert progress.find(caller, ONE, end) is None

"""Submissions that wait for their result."""

from typing import Any

import pytest

from spinneret.jobs.models import JobRef
from spinneret.kernel.errors import DependencyUnavailable
from tests.factories import TENANT
from tests.fakes.crawling import long_page
from tests.fakes.fetching import fetched_page
from tests.fakes.time import START
from tests.unit.runtime.api import SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused

URL = "https://site.example/page"


@pytest.fixture
def works(api: Api) -> None:
    """Let a worker run the crawl while the crawl's request waits."""
    world = api.crawls
    world.pages[URL] = fetched_page(URL, long_page("silk", 20))

    def pause(seconds: float) -> None:
        world.clock.advance(seconds)
        for sent in world.queue.take():
            world.run(sent.ref)

    world.sleep = pause


def post(api: Api, key: str, idempotency: str | None = None, **body: Any) -> Answer:
    headers = {"Idempotency-Key": idempotency}
    return api.send(SUBMIT, key, body={"url": URL, **body}, headers=headers)


def seconds(api: Api) -> float:
    return (api.crawls.clock() - START).total_seconds()


# covers C-01
@pytest.mark.usefixtures("works")
def test_a_waiting_crawl_is_answered_with_its_result(api: Api, key: str) -> None:
    answer = post(api, key, wait=25)
    assert (answer.status, answer.body["status"]) == (200, "completed")
    assert "silk" in answer.body["markdown"]
    assert seconds(api) < 1
    again = post(api, key, wait=25)  # a fresh result needs no wait
    assert (again.status, again.body["job_id"]) == (200, answer.body["job_id"])


def test_a_longer_crawl_is_accepted_after_the_wait(api: Api, key: str) -> None:
    answer = post(api, key, wait=5)
    assert (answer.status, answer.body["status"]) == (202, "pending")
    assert seconds(api) == 5


def test_the_wait_counts_from_the_time_at_which_the_gateway_took_the_request(
    api: Api, key: str
) -> None:
    api.crawls.clock.advance(3)
    assert post(api, key, wait=25).status == 202
    assert seconds(api) == 25


def test_a_crawl_without_wait_is_accepted_at_once(api: Api, key: str) -> None:
    assert post(api, key).status == 202
    assert seconds(api) == 0


# covers P-05
def test_a_replay_with_another_wait_is_the_same_request_and_waits_anew(api: Api, key: str) -> None:
    first = post(api, key, "k", wait=1)
    assert first.status == 202
    api.crawls.pages[URL] = fetched_page(URL, long_page("silk", 20))
    again = post(api, key, "k")
    assert (again.status, again.body) == (202, first.body)
    api.crawls.settle(JobRef(tenant=TENANT, job_id=first.body["job_id"]))
    done = post(api, key, "k", wait=25)
    assert (done.status, done.body["job_id"]) == (200, first.body["job_id"])
    assert done.headers["Idempotent-Replayed"] == "true"
    other = post(api, key, "k", wait=25, priority="low")
    assert_refused(other, 422, "IDEMPOTENCY_MISMATCH")


@pytest.mark.parametrize("given", [{"wait": 26}, {"wait": -1}, {"wait": "5"}])
def test_a_wait_has_bounds(api: Api, key: str, given: dict[str, Any]) -> None:
    assert_refused(post(api, key, **given), 422, "VALIDATION_ERROR")


def test_only_one_url_can_be_waited_for(api: Api, key: str) -> None:
    answer = api.send(SUBMIT, key, body={"urls": [URL], "wait": 5})
    assert_refused(answer, 422, "VALIDATION_ERROR")


def test_an_outage_during_the_wait_leaves_the_submission_accepted(
    api: Api, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outage(_: JobRef, __: Any) -> None:
        raise DependencyUnavailable("dynamodb")

    monkeypatch.setattr(api.services.waits, "end", outage)
    assert post(api, key, wait=5).status == 202

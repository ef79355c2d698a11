"""A stage's settings for crawls, from its environment to their effect on a crawl."""

from collections.abc import Mapping

import pytest

from spinneret.aws.stage import Stage
from spinneret.crawl.wiring import SUBMITTED, WORKED, submitted_kinds, worked_kinds
from spinneret.jobs.models import JobStatus
from spinneret.jobs.wiring import JOBS, driver, worker
from spinneret.kernel import bounds
from spinneret.kernel.errors import FetchTimeout
from spinneret.kernel.settings import SettingsError
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.hosts.wiring import PACE, pace_limits
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.kinds import KINDS

URL = "https://site.example/page"


def submitting(crawl: CrawlWorld, env: Mapping[str, str]) -> None:
    crawl.kinds = {**KINDS, **submitted_kinds(Stage(env, SUBMITTED))}


def test_without_variables_the_bounds_hold() -> None:
    for kinds in (submitted_kinds(Stage({}, SUBMITTED)), worked_kinds(Stage({}, WORKED))):
        assert kinds["crawl"] == KINDS["crawl"]


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_a_crawl_is_tried_as_often_as_the_stage_says(crawl: CrawlWorld, attempts: int) -> None:
    submitting(crawl, {"JOB__MAX_RETRIES": str(attempts)})
    crawl.pages[URL] = FetchTimeout("slow")
    ref = crawl.submit(URL)
    assert crawl.job(ref).max_attempts == attempts
    assert crawl.run(ref).redrives == (1 if attempts == 1 else 0)


# covers P-03
def test_retries_wait_as_long_as_the_stage_says(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "eu-west-1")
    env = {each.name: "http://localhost" for each in JOBS}
    stage = Stage({**env, "JOB__RETRY_DELAYS_S": "[10, 0.5]"}, JOBS)
    wired = worker(stage, {}, crawl.store).retry_delays
    assert wired == driver(stage, crawl.store).retry_delays == (10.0, 0.5)
    crawl.pages[URL] = FetchTimeout("slow")
    ref, waits = crawl.submit(URL), []
    for _ in range(2):
        tried = crawl.worker()
        tried.retry_delays = wired
        tried.run(ref, lambda: crawl.remaining)
        waits.append((crawl.job(ref).due_at - crawl.clock()).total_seconds())
        crawl.clock.advance(waits[-1])
    assert waits == [10.0, 0.5]


@pytest.mark.parametrize("text", ["", "1, 2", "[]", "[0]", "[1, -2]", "[Infinity]", "{}", '["a"]'])
def test_delays_that_are_no_list_of_seconds_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="JOB__RETRY_DELAYS_S"):
        Stage({"JOB__RETRY_DELAYS_S": text}, ())


@pytest.mark.parametrize(("seconds", "cached"), [(60, True), (59, False), (0, False)])
def test_a_result_answers_as_long_as_the_stage_says(
    crawl: CrawlWorld, seconds: int, cached: bool
) -> None:
    submitting(crawl, {"JOB__RESULT_TTL_S": str(seconds)})
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    first = crawl.settle(crawl.submit(URL))
    assert first.status is JobStatus.COMPLETED
    crawl.clock.advance(59)
    assert (crawl.submit(URL) == first.ref) == cached


@pytest.mark.parametrize(("seconds", "fails"), [("30", True), ("300", False)])
def test_a_crawl_may_work_as_long_as_the_stage_says(
    crawl: CrawlWorld, seconds: str, fails: bool
) -> None:
    crawl.kinds = {**KINDS, **worked_kinds(Stage({"JOB__TIMEOUT_S": seconds}, WORKED))}
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))

    class Slow(FakeFetcher):
        def fetch(self, request: FetchRequest) -> FetchedPage:
            page = super().fetch(request)
            crawl.clock.advance(31)
            crawl.remaining = bounds.DEADLINE_MARGIN_SECONDS - 1
            return page

    slow = Slow(crawl.pages)
    job = crawl.run(crawl.submit(URL), lambda name, port: slow if name == "fetcher" else port)
    assert job.status is (JobStatus.FAILED if fails else JobStatus.PENDING)
    assert (job.last_error.code if job.last_error else None) == ("TIME_LIMIT" if fails else None)


def test_the_pace_of_a_stage_is_what_its_variables_say() -> None:
    env = {
        "RATE_LIMIT__DEFAULT_RPS": "0.5",
        "CIRCUIT_BREAKER__THRESHOLD": "7",
        "CIRCUIT_BREAKER__TIMEOUT_S": "60",
    }
    pace = pace_limits(Stage(env, PACE))
    assert (pace.rate, pace.breaker.threshold, pace.breaker.open_seconds) == (0.5, 7, 60.0)

"""S3 and DynamoDB fail or hang during a deep crawl: it still has each of its 20 pages once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from moto import mock_aws

from spinneret.jobs.models import JobRef, JobStatus
from spinneret.web.exploring.frontier.models import PageState
from tests.factories import TENANT
from tests.fakes.time import START
from tests.simulation.run import silent_logs
from tests.traps.crawls import Steps, violations
from tests.traps.oracle import first_visited, sized
from tests.traps.outages import How, Services, StoredCrawl

SITE: Final = sized(50, START.year, is_long=False)
PAGES: Final = 20
WORKERS: Final = 5
ERRORS: Final = ("/error/500", "/error/429")

pytestmark = pytest.mark.heavy


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Iterator[StoredCrawl]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws(), silent_logs(), ThreadPoolExecutor() as threads:
        made = StoredCrawl(SITE, Steps(1, threads), workers=WORKERS, services=Services())
        try:
            yield made
        finally:
            made.steps.end_all()


def attempts_after(crawl: StoredCrawl) -> dict[str, int]:
    """Crawl, check that each page is stored once, and return the charged attempts by path."""
    view = crawl.crawl(max_pages=PAGES)
    assert violations(crawl, view, first_visited(SITE, PAGES)) == []
    assert (view.pages_crawled, view.status) == (PAGES, JobStatus.COMPLETED)
    assert crawl.job(JobRef(tenant=TENANT, job_id=view.job_id)).attempts == 0
    rows = crawl.rows(view)
    for page in rows:
        if page.state is PageState.CRAWLED:
            document = crawl.documents.get(TENANT, page.document_id)
            assert document is not None
            assert crawl.contents.get(document.content_key)
    charged = {page.url.removeprefix("https://site.example"): page.attempts for page in rows}
    return {path: times for path, times in charged.items() if times and path not in ERRORS}


@pytest.mark.parametrize(
    ("how", "from_request", "seconds", "is_warm"),
    [
        (How.HANGS, 1, 60.0, False),
        pytest.param(How.ANSWERS_LOST, 8, 60.0, False, marks=pytest.mark.proof),
        pytest.param(How.REFUSED, 8, 60.0, True, marks=pytest.mark.proof),
    ],
)
def test_pages_wait_for_a_bucket_and_are_charged_nothing(
    crawl: StoredCrawl, how: How, from_request: int, seconds: float, is_warm: bool
) -> None:
    """A process that knows robots.txt requests pages, can't store them, and requests them again."""
    crawl.keeps_warm = is_warm
    outage = crawl.meet("s3", how, seconds, from_request)
    assert attempts_after(crawl) == {}
    assert outage.met


@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        (How.REFUSED, 20.0),
        pytest.param(How.HANGS, 200.0, marks=pytest.mark.proof),
        pytest.param(How.ANSWERS_LOST, 60.0, marks=pytest.mark.proof),
    ],
)
def test_pages_whose_end_can_t_be_written_are_charged_one_lost_worker(
    crawl: StoredCrawl, how: How, seconds: float
) -> None:
    outage = crawl.meet("dynamodb", how, seconds, from_request=8)
    charged = attempts_after(crawl)
    assert len(charged) <= WORKERS
    assert set(charged.values()) <= {1}
    assert bool(charged) is (how is not How.ANSWERS_LOST)  # a completed write is recognised
    assert outage.met

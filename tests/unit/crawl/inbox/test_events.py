"""The event of an uploaded object."""

import json
from pathlib import Path

from spinneret.crawl.inbox.events import S3EventHandler
from spinneret.crawl.inbox.service import InboxIngest
from spinneret.jobs.models import JobRef
from tests.fakes.crawling import CrawlWorld

EVENT = Path(__file__).resolve().parents[4] / "events" / "crawl" / "inbox.json"


def test_an_event_begins_the_job_of_its_object() -> None:
    crawl = CrawlWorld()
    event = json.loads(EVENT.read_text())
    answer = S3EventHandler(InboxIngest(jobs=crawl.job_service()))(event, lambda: 30.0)
    job = crawl.job(JobRef(tenant="acme", job_id=answer["job_id"] or ""))
    found = event["detail"]["object"]
    assert job.payload == {
        "key": found["key"],
        "version": found["version-id"],
        "name": "pages.csv",
    }

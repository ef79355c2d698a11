"""Lanes have their own workers, so urgent jobs don't wait for others (P-09)."""

from datetime import datetime
from typing import Any

import pytest

from tests.e2e.conftest import Tenant
from tests.e2e.website import Website

pytestmark = [pytest.mark.stack, pytest.mark.alone, pytest.mark.timeout(240)]

HUNG = 6  # the low lane works on two at once, the normal lane on four
TRIES = 3


# covers P-09
def test_full_lanes_do_not_hold_up_the_high_one(tenant: Tenant, website: Website) -> None:
    website.hold()
    try:
        hung = [
            tenant.crawl(f"{website.url}/held?text={lane}+crowd+{n}", priority=lane)
            for lane in ("low", "normal")
            for n in range(HUNG)
        ]
        assert website.arrived.wait(30)
        first = [
            tenant.finished(tenant.crawl(f"{website.url}/page?text=first+{n}", priority=urgent))
            for n in range(TRIES)
            for urgent in ("high", "critical")
        ]
        assert {job["status"] for job in first} == {"completed"}
        # The first jobs also wait for the start of a worker.
        assert min(map(_seconds_to_start, first)) < 1
        waiting = [tenant.job(each)["status"] for each in hung]
        assert "completed" not in waiting
        assert "pending" in waiting
    finally:
        website.release()
    for each in hung:
        assert tenant.finished(each, 180)["status"] == "completed"


def _seconds_to_start(job: dict[str, Any]) -> float:
    began, submitted = (datetime.fromisoformat(job[at]) for at in ("started_at", "created_at"))
    return (began - submitted).total_seconds()

"""Lanes have their own workers: what is urgent doesn't wait for what isn't (P-09)."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Tenant
from tests.e2e.website import Website

pytestmark = [pytest.mark.stack, pytest.mark.alone, pytest.mark.timeout(240)]

LOW_JOBS = 12  # six times what the low lane works on at once


@pytest.mark.parametrize("urgent", ["high", "critical"])
def test_a_full_low_lane_does_not_hold_up_the_high_one(
    urgent: str, tenant: Tenant, website: Website
) -> None:
    website.hold()
    try:
        low = [
            tenant.crawl(f"{website.url}/held?text={urgent}+crowd+{n}", priority="low")
            for n in range(LOW_JOBS)
        ]
        assert website.arrived.wait(30)
        job_id = tenant.crawl(f"{website.url}/page?text={urgent}+first", priority=urgent)
        assert tenant.finished(job_id)["status"] == "completed"
        waiting = [tenant.job(each)["status"] for each in low]
        assert "completed" not in waiting
        assert waiting.count("pending") >= LOW_JOBS // 2
    finally:
        website.release()
    for each in low:
        assert tenant.finished(each, 180)["status"] == "completed"

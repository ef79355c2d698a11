"""Checks of sixty targets, as deployed: rule, queue, workers and DynamoDB of the stack."""

import logging
import os
import time
from datetime import datetime, timedelta
from statistics import median, quantiles
from typing import Any, Final

import pytest

from spinneret.kernel.clock import to_iso, utc_now
from tests.e2e.conftest import Tenant
from tests.e2e.website import Website

logger = logging.getLogger(__name__)

SECONDS: Final = int(os.environ.get("SPINNERET_CHECKED_SECONDS", "0"))
TARGETS: Final = 60
INTERVAL: Final = 120  # half a check a second: the host's rate limit is one
SETTLING: Final = 150.0  # two ticks and the first checks

pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(SECONDS + 600),
    pytest.mark.skipif(SECONDS == 0, reason="takes minutes: make prove sets the seconds"),
]


# covers M-02
def test_of_sixty_targets_nearly_all_checks_are_made_in_their_interval(
    admin: Tenant, website: Website
) -> None:
    """A due time has its check if one began before the next due time."""
    ids = []
    for number in range(TARGETS):
        url = f"{website.url}/page?text={admin.name}-{number}"
        made = admin("POST", "/v1/targets", {"url": url, "interval_seconds": INTERVAL})
        assert made.status_code == 201, made.text
        ids.append(made.json()["id"])
    time.sleep(SETTLING)  # not a wait for a condition: the targets' first checks don't count
    since = utc_now()
    time.sleep(SECONDS)
    until = utc_now()
    late, wanted, found = list[float](), 0, 0
    for target_id in ids:
        results = _results(admin, target_id, since)
        times = [_at(each) - timedelta(milliseconds=each["late_ms"]) for each in results]
        late += [each["late_ms"] / 1000 for each in results]
        assert all(each["outcome"] == "up" for each in results), results
        due = times[0] if times else since + timedelta(seconds=INTERVAL)
        while due - timedelta(seconds=INTERVAL) > since:
            due -= timedelta(seconds=INTERVAL)
        while due < until - timedelta(seconds=INTERVAL):
            end = due + timedelta(seconds=INTERVAL)
            wanted += 1
            found += any(due <= _at(each) < end for each in results)
            due = end
        assert admin("DELETE", f"/v1/targets/{target_id}").status_code == 204
    p95 = quantiles(late, n=20)[-1]
    logger.info("%d of %d checks, late p50 %.1f s, p95 %.1f s", found, wanted, median(late), p95)
    assert wanted >= TARGETS
    assert found >= 0.99 * wanted


def _results(admin: Tenant, target_id: str, since: datetime) -> list[dict[str, Any]]:
    answer = admin("GET", f"/v1/targets/{target_id}/results?limit=100&since={to_iso(since)}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found[::-1]


def _at(result: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(result["checked_at"])

"""Rows of the webhooks table, as stored in all releases."""

from datetime import timedelta
from typing import Any

from spinneret.events.webhooks import items
from spinneret.events.webhooks.models import (
    Cooldown,
    Delivery,
    DeliveryStatus,
    Endpoint,
    EndpointKind,
    SealedSecrets,
)
from tests.contract.exact_rows import check_row, typed
from tests.fakes.time import START
from tests.rows import each_row

DAY = timedelta(days=1)
SECRETS = SealedSecrets(newest=b"n")
ROTATED = SealedSecrets(newest=b"n", old=b"o", old_until=START + DAY)
ROTATED_ROW = {
    "secret": b"n",
    "old_secret": b"o",
    "old_secret_until": "2026-01-03T12:00:00.000000Z",
}
ENDPOINT = Endpoint(
    tenant="acme",
    id="wh_1",
    name="mine",
    url="https://x.example/",
    events=frozenset({"b.c", "a.*"}),
    secrets=SECRETS,
    created_at=START,
    updated_at=START,
)
ENDPOINT_ROW = {
    "pk": "T#acme#ENDPOINTS",
    "sk": "wh_1",
    "tenant": "acme",
    "name": "mine",
    "url": "https://x.example/",
    "kind": "webhook",
    "events": ["a.*", "b.c"],
    "header_names": [],
    "sealed_headers": [],
    "is_active": True,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "updated_at": "2026-01-02T12:00:00.000000Z",
    "version": 1,
    "secret": b"n",
}
FULL_ENDPOINT = Endpoint(
    tenant="acme",
    id="wh_1",
    name="mine",
    url="https://x.example/",
    kind=EndpointKind.SLACK,
    events=frozenset(),
    secrets=ROTATED,
    header_names=("A", "B"),
    sealed_headers=(b"1", b"\x00"),
    source_id="src_1",
    is_active=False,
    disabled_reason="gone",
    created_at=START,
    updated_at=START + DAY,
    version=4,
)
FULL_ENDPOINT_ROW = {
    **ENDPOINT_ROW,
    **ROTATED_ROW,
    "kind": "slack",
    "events": [],
    "header_names": ["A", "B"],
    "sealed_headers": [b"1", b"\x00"],
    "source_id": "src_1",
    "is_active": False,
    "disabled_reason": "gone",
    "updated_at": "2026-01-03T12:00:00.000000Z",
    "version": 4,
}
DELIVERY = Delivery(
    tenant="acme",
    id="msg_1",
    endpoint_id=None,
    url=None,
    event="webhook.test",
    job_id=None,
    job_type=None,
    payload={"b": 1.5, "a": ["ü", None, 1]},
    delivery_job_id="job_1",
    max_attempts=3,
    created_at=START,
)
DELIVERY_ROW = {
    "pk": "T#acme#DELIVERIES#",
    "sk": "msg_1",
    "tenant": "acme",
    "event": "webhook.test",
    "payload": '{"b":1.5,"a":["ü",null,1]}',
    "delivery_job_id": "job_1",
    "status": "pending",
    "attempts": 0,
    "max_attempts": 3,
    "created_at": "2026-01-02T12:00:00.000000Z",
}
FULL_DELIVERY = Delivery(
    tenant="acme",
    id="msg_1",
    endpoint_id="wh_1",
    url="https://x.example/",
    event="job.failed",
    job_id="job_2",
    job_type="crawl",
    payload={},
    delivery_job_id="job_1",
    status=DeliveryStatus.FAILED,
    attempts=2,
    max_attempts=3,
    last_attempt_at=START,
    response_status=500,
    response_body="oops",
    error="no",
    created_at=START,
    delivered_at=START + DAY,
    next_attempt_at=START + 2 * DAY,
)
FULL_DELIVERY_ROW = {
    "pk": "T#acme#DELIVERIES#wh_1",
    "sk": "msg_1",
    "tenant": "acme",
    "endpoint_id": "wh_1",
    "url": "https://x.example/",
    "event": "job.failed",
    "job_id": "job_2",
    "job_type": "crawl",
    "payload": "{}",
    "delivery_job_id": "job_1",
    "status": "failed",
    "attempts": 2,
    "max_attempts": 3,
    "last_attempt_at": "2026-01-02T12:00:00.000000Z",
    "response_status": 500,
    "response_body": "oops",
    "error": "no",
    "created_at": "2026-01-02T12:00:00.000000Z",
    "delivered_at": "2026-01-03T12:00:00.000000Z",
    "next_attempt_at": "2026-01-04T12:00:00.000000Z",
}
COOLDOWN_ROW = {"failures": 2, "until": "2026-01-02T12:00:00.000000Z", "purge_at": 1767441600}


@each_row(
    [
        ("an endpoint", (items.ENDPOINTS, ENDPOINT, ENDPOINT_ROW)),
        ("an endpoint with everything", (items.ENDPOINTS, FULL_ENDPOINT, FULL_ENDPOINT_ROW)),
        ("secrets", (items.SECRETS, SECRETS, {"secret": b"n"})),
        ("rotated secrets", (items.SECRETS, ROTATED, ROTATED_ROW)),
        ("a delivery", (items.DELIVERIES, DELIVERY, DELIVERY_ROW)),
        ("a delivery with everything", (items.DELIVERIES, FULL_DELIVERY, FULL_DELIVERY_ROW)),
        ("a cooldown", (items.COOLDOWNS, Cooldown(failures=2, until=START), COOLDOWN_ROW)),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


def test_a_line_of_the_log_is_purged_30_days_after_its_last_change() -> None:
    item = items.delivery_item(DELIVERY, START + 3 * DAY)
    assert typed(item) == typed({**DELIVERY_ROW, "purge_at": 1770206400})

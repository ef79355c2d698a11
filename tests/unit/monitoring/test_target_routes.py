"""Targets over HTTP (M-01)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.monitoring import limits
from spinneret.monitoring.incidents.models import Incident, IncidentStatus
from spinneret.monitoring.targets.models import Status
from spinneret.monitoring.wiring import TargetApi
from tests.factories import TENANT
from tests.fakes.monitoring import FakeWatch
from tests.fakes.time import START, HandClock
from tests.unit.runtime.api import Answer
from tests.unit.served import Served
from watch import targets_routes

URL = "HTTPS://Example.com:443/path/?a=1#section"


@pytest.fixture
def served(api: TargetApi) -> Served:
    return Served(targets_routes.routes.router, api)


def body(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = answer.body
    return found


def made(served: Served, url: str = URL, **options: Any) -> dict[str, Any]:
    answer = served.send("POST", "/v1/targets", {"url": url, **options})
    assert answer.status == 201, answer.body
    return body(answer)


def test_a_target_keeps_its_url_and_is_known_by_the_canonical_one(served: Served) -> None:
    target = made(served)
    assert target["url"] == URL
    assert target["canonical_url"] == "https://example.com/path?a=1"
    assert (target["id"][:2], target["host"], target["status"]) == ("t_", "example.com", "pending")
    assert target["interval_seconds"] == 15
    assert body(served.send("GET", f"/v1/targets/{target['id']}")) == target


# covers M-01
def test_the_same_canonical_url_is_the_same_target(served: Served) -> None:
    first = made(served)
    again = served.send("POST", "/v1/targets", {"url": "https://example.com/path?a=1"})
    assert (again.status, body(again)) == (200, first)
    other = served.send("POST", "/v1/targets", {"url": URL}, tenant="other")
    assert other.status == 201


# covers M-01
def test_a_repeated_request_is_answered_as_the_first_time(served: Served) -> None:
    key = {"Idempotency-Key": "one"}
    first = served.send("POST", "/v1/targets", {"url": URL}, headers=key)
    served.send("PATCH", f"/v1/targets/{body(first)['id']}", {"name": "changed"})
    again = served.send("POST", "/v1/targets", {"url": URL}, headers=key)
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers


def test_a_repeated_duplicate_is_answered_200_again(served: Served) -> None:
    made(served)
    key = {"Idempotency-Key": "two"}
    answers = [served.send("POST", "/v1/targets", {"url": URL}, headers=key) for _ in range(2)]
    assert [each.status for each in answers] == [200, 200]
    assert answers[0].body == answers[1].body


def test_a_key_is_good_for_one_body_only(served: Served) -> None:
    key = {"Idempotency-Key": "one"}
    served.send("POST", "/v1/targets", {"url": URL}, headers=key)
    other = served.send("POST", "/v1/targets", {"url": "https://other.example"}, headers=key)
    assert (other.status, body(other)["code"]) == (422, "IDEMPOTENCY_MISMATCH")


def test_a_key_is_forgotten_after_a_day(served: Served, clock: HandClock) -> None:
    key = {"Idempotency-Key": "one"}
    served.send("POST", "/v1/targets", {"url": URL}, headers=key)
    clock.advance(24 * 3600)
    other = served.send("POST", "/v1/targets", {"url": "https://other.example"}, headers=key)
    assert other.status == 201


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"url": "ftp://example.com"}, 400, "URL_INVALID"),
        ({"url": "https://user:pw@example.com"}, 400, "URL_INVALID"),
        ({"url": "http://127.0.0.1/"}, 403, "URL_BLOCKED"),
        ({"url": URL, "interval_seconds": 1}, 422, "VALIDATION_ERROR"),
        ({"url": URL, "method": "HEAD", "watch_content": True}, 422, "VALIDATION_ERROR"),
        ({"url": URL, "colour": "red"}, 422, "VALIDATION_ERROR"),
        ({}, 422, "VALIDATION_ERROR"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    served: Served, given: dict[str, Any], status: int, code: str
) -> None:
    answer = served.send("POST", "/v1/targets", given)
    assert (answer.status, body(answer)["code"]) == (status, code)


# covers M-01
def test_lists_go_on_where_they_stopped_even_within_one_moment(served: Served) -> None:
    ids = [made(served, f"https://h{number % 2}.example/{number}")["id"] for number in range(7)]
    seen, token, pages = [], None, 0
    while True:
        query = {"limit": "3"} | ({"page_token": token} if token else {})
        page = body(served.send("GET", "/v1/targets", **query))
        assert page["next_page_token"] == page["next_cursor"]
        assert page["has_more"] == (page["next_cursor"] is not None)
        seen += [each["id"] for each in page["items"]]
        token, pages = page["next_page_token"], pages + 1
        if token is None:
            break
    assert (seen, pages) == (ids, 3)
    of_host = body(served.send("GET", "/v1/targets", host="H1.example"))
    assert [each["id"] for each in of_host["items"]] == ids[1::2]


def test_a_list_of_one_status_ends_whatever_lies_between(
    served: Served, watch: FakeWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STATUS_READ_TARGETS", 3)
    ids = [made(served, f"https://example.com/{number}")["id"] for number in range(9)]
    for each in (ids[0], ids[7], ids[8]):
        watched = watch.get(TENANT, each)
        assert watched is not None
        down = replace(watched.state, status=Status.DOWN)
        assert watch.change(watched, watched.target, down)
    pages, cursor = [], {}
    for _ in ids:
        page = body(served.send("GET", "/v1/targets", status="down", limit="1", **cursor))
        pages.append([each["id"] for each in page["items"]])
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages == [[ids[0]], [], [], [ids[7]], [ids[8]]]
    assert served.send("GET", "/v1/targets", status="broken").status == 422


@pytest.mark.parametrize(
    "query", [{"cursor": "bm90aGluZw=="}, {"cursor": "!"}, {"cursor": "YQ==", "page_token": "Yg=="}]
)
def test_what_is_no_cursor_is_refused(served: Served, query: dict[str, str]) -> None:
    assert served.send("GET", "/v1/targets", **query).status == 422


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Bücher.example/", "BÜCHER.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://www.example.com/", "WWW.Example.com"),
        ("https://[2606:4700::1111]/", "2606:4700:0::1111"),
        ("https://[2606:4700::1111]/", "[2606:4700::1111]"),
    ],
)
def test_a_host_is_found_by_any_way_to_write_it(served: Served, url: str, host: str) -> None:
    target = made(served, url)
    made(served, "https://other.example/")
    found = body(served.send("GET", "/v1/targets", host=host))["items"]
    assert [each["id"] for each in found] == [target["id"]]


@pytest.mark.parametrize("host", ["a/b", "a b", "a?b", "user@a", "a\\b", "a#b", "[", "a:b:c"])
def test_what_is_no_host_is_refused(served: Served, host: str) -> None:
    assert served.send("GET", "/v1/targets", host=host).status == 422


def incident(number: int, days: float, lasted: float | None) -> Incident:
    """Return an incident that began `days` before the test's current time."""
    started = START - timedelta(days=days)
    return Incident(
        id=f"inc_{number}",
        started_at=started,
        ended_at=None if lasted is None else started + timedelta(days=lasted),
        status=IncidentStatus.UP if lasted else IncidentStatus.DOWN,
        timeline=(),
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["inc_1", "inc_2", "inc_3", "inc_4"]),
        ({"window": "24h"}, ["inc_1"]),
        ({"window": "7d"}, ["inc_1", "inc_2"]),
        ({"window": "30d"}, ["inc_1", "inc_2", "inc_3"]),
        ({"window": "1y"}, ["inc_1", "inc_2", "inc_3", "inc_4"]),
    ],
)
def test_incidents_of_a_window_are_those_that_lasted_into_it(
    served: Served, watch: FakeWatch, query: dict[str, str], expected: list[str]
) -> None:
    target_id = made(served)["id"]
    kept = watch.incidents["acme", target_id]
    for each in (
        incident(1, 2, None),
        incident(2, 8, 2),
        incident(3, 20, 1),
        incident(4, 50, 1),
    ):
        kept[each.id] = each
    path = f"/v1/targets/{target_id}/incidents"
    assert [each["id"] for each in body(served.send("GET", path, **query))["items"]] == expected
    found, cursor = [], {}
    while True:
        page = body(served.send("GET", path, limit="1", **query, **cursor))
        found += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == expected
    assert served.send("GET", path, window="2d").status == 422


def test_options_change_one_by_one_and_are_judged_together(served: Served) -> None:
    target = made(served, name="Shop", watch_content=True)
    path = f"/v1/targets/{target['id']}"
    changed = body(served.send("PATCH", path, {"failure_threshold": 5}))
    assert (changed["name"], changed["failure_threshold"]) == ("Shop", 5)
    assert body(served.send("PATCH", path, {"name": None}))["name"] is None
    assert served.send("PATCH", path, {"method": "HEAD"}).status == 422
    assert served.send("PATCH", path, {"conditions": None}).status == 422
    assert body(served.send("GET", path))["method"] == "GET"


def test_no_target_is_checked_more_often_than_ticks_come(served: Served, watch: FakeWatch) -> None:
    refused = served.send("POST", "/v1/targets", {"url": URL, "interval_seconds": 11})
    assert refused.status == 422
    assert "at least 12" in refused.text
    path = f"/v1/targets/{made(served, interval_seconds=12)['id']}"
    assert served.send("PATCH", path, {"interval_seconds": 11}).status == 422
    [(name, known)] = watch.rows.items()
    options = replace(known.target.options, interval_seconds=10)  # stored when ticks were faster
    watch.rows[name] = replace(known, target=replace(known.target, options=options))
    assert served.send("PATCH", path, {"name": "Shop"}).status == 200


def test_a_paused_target_is_not_due_until_it_is_resumed(served: Served, watch: FakeWatch) -> None:
    target = made(served)
    path = f"/v1/targets/{target['id']}"
    for _ in range(2):
        paused = body(served.send("POST", f"{path}/pause"))
        assert (paused["paused"], paused["next_check_at"]) == (True, None)
    resumed = body(served.send("POST", f"{path}/resume"))
    assert (resumed["paused"], resumed["next_check_at"]) == (False, target["next_check_at"])


def test_a_deleted_target_is_unknown_and_its_url_free(served: Served) -> None:
    target = made(served)
    path = f"/v1/targets/{target['id']}"
    assert served.send("DELETE", path).status == 204
    for method in ("GET", "DELETE"):
        assert served.send(method, path).status == 404
    assert served.send("GET", f"{path}/results").status == 404
    assert made(served)["id"] != target["id"]


def test_a_tenant_has_no_more_targets_than_it_may_have(served: Served) -> None:
    targets = [made(served, f"https://example.com/{number}") for number in range(50)]
    refused = served.send("POST", "/v1/targets", {"url": "https://example.com/50"})
    assert (refused.status, body(refused)["code"]) == (409, "CONFLICT")
    assert body(refused)["error"] == "a tenant has at most 50 targets"
    known = served.send("POST", "/v1/targets", {"url": "https://example.com/49"})
    assert (known.status, body(known)["id"]) == (200, targets[49]["id"])
    other = served.send("POST", "/v1/targets", {"url": "https://example.com/50"}, tenant="other")
    assert other.status == 201
    served.send("DELETE", f"/v1/targets/{targets[0]['id']}")
    made(served, "https://example.com/50")


def test_a_foreign_target_is_an_unknown_one(served: Served) -> None:
    path = f"/v1/targets/{made(served)['id']}"
    answers = [served.send("GET", f"{path}{part}", tenant="other") for part in PARTS]
    unknown = [served.send("GET", f"/v1/targets/t_9{part}") for part in PARTS]
    assert [(each.status, body(each)["code"]) for each in answers] == [(404, "NOT_FOUND")] * len(
        PARTS
    )
    assert [each.body for each in answers] == [each.body for each in unknown]


PARTS = ("", "/results", "/uptime", "/days", "/incidents")


def test_times_need_their_offset(served: Served) -> None:
    path = f"/v1/targets/{made(served)['id']}/results"
    assert served.send("GET", path, since="2026-01-02T12:00:00").status == 422
    assert served.send("GET", path, since="2026-01-02T12:00:00Z").status == 200
    assert served.send("GET", path, since="2026-01-02T14:00:00 02:00").status == 200

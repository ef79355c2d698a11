"""Maintenance windows: when they are open, in their own time zone."""

import itertools
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spinneret.kernel.errors import ValidationFailed
from spinneret.monitoring.targets.models import Options
from spinneret.monitoring.targets.service import TargetService
from spinneret.monitoring.windows import rules
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.monitoring.windows.service import Maintenance, WindowService
from tests.fakes.monitoring import FakeWatch, FakeWindowStore
from tests.fakes.time import START, HandClock
from tests.rows import each_row
from tests.unit.served import Served
from watch import windows_routes

REQUEST: dict[str, Any] = {
    "name": "Updates",
    "starts_at": "2026-01-04T02:30",
    "duration_minutes": 90,
    "timezone": "Europe/Berlin",
    "recurrence": "FREQ=WEEKLY;BYDAY=SU",
}


def window(start: str, recurrence: str | None = None, minutes: int = 60) -> MaintenanceWindow:
    return rules.checked(
        MaintenanceWindow(
            tenant="acme",
            id="mw_1",
            name="Updates",
            starts_at=datetime.fromisoformat(start),
            duration_minutes=minutes,
            timezone="Europe/Berlin",
            recurrence=recurrence,
            target_ids=(),
            created_at=START,
            updated_at=START,
        )
    )


SECOND = timedelta(seconds=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


WEEKLY = "FREQ=WEEKLY;BYDAY=SU"
OPEN = [
    ("once, at its beginning", (window("2026-01-04T02:30"), "2026-01-04T01:30", True)),
    ("once, at its end", (window("2026-01-04T02:30"), "2026-01-04T02:30", False)),
    ("once, before it", (window("2026-01-04T02:30"), "2026-01-04T01:29:59", False)),
    ("once, a week later", (window("2026-01-04T02:30"), "2026-01-11T01:40", False)),
    ("a week later", (window("2026-01-04T02:30", WEEKLY), "2026-01-11T01:40", True)),
    ("before the first", (window("2026-01-04T02:30", WEEKLY), "2025-12-28T01:40", False)),
    ("in summer an hour earlier", (window("2026-01-04T02:30", WEEKLY), "2026-07-05T00:40", True)),
    ("in summer not as in winter", (window("2026-01-04T02:30", WEEKLY), "2026-07-05T01:40", False)),
    # 29 March: 2:00 is followed by 3:00
    (
        "what is left behind a skip",
        (window("2026-03-29T02:30", None, 60), "2026-03-29T01:10", True),
    ),
    ("until a skip", (window("2026-03-29T01:30", None, 60), "2026-03-29T00:40", True)),
    ("skipped altogether", (window("2026-03-29T02:10", None, 20), "2026-03-29T01:10", False)),
    # 25 October: 3:00 is followed by 2:00
    ("the first time", (window("2026-10-25T02:30", None, 20), "2026-10-25T00:40", True)),
    ("the second time", (window("2026-10-25T02:30", None, 20), "2026-10-25T01:40", True)),
    ("over midnight", (window("2026-01-01T23:30", "FREQ=DAILY"), "2026-02-02T23:10", True)),
    (
        "longer than its period",
        (window("2026-01-01T00:00", "FREQ=DAILY", 3000), "2026-02-02T23:10", True),
    ),
    (
        "until a day, that day included",
        (window("2026-01-01T12:00", "FREQ=DAILY;UNTIL=20260105Z"), "2026-01-05T11:10", True),
    ),
    (
        "after it",
        (window("2026-01-01T12:00", "FREQ=DAILY;UNTIL=20260105Z"), "2026-01-06T11:10", False),
    ),
    ("so many times", (window("2026-01-01T12:00", "FREQ=DAILY;COUNT=3"), "2026-01-03T11:10", True)),
    ("and no more", (window("2026-01-01T12:00", "FREQ=DAILY;COUNT=3"), "2026-01-04T11:10", False)),
    (
        "the last Friday of the month",
        (window("2026-01-30T12:00", "FREQ=MONTHLY;BYDAY=-1FR"), "2026-02-27T11:10", True),
    ),
]


# covers M-04
@each_row(OPEN)
def test_a_window_is_open(row: tuple[MaintenanceWindow, str, bool]) -> None:
    each, now, expected = row
    until = rules.open_until(each, utc(now))
    assert (until is not None) is expected
    assert until is None or rules.open_until(each, until - SECOND) is not None


REFUSED = [
    (text, {"recurrence": text})
    for text in (
        "FREQ=SECONDLY",
        "FREQ=DAILY;BYHOUR=1",
        "FREQ=DAILY;FREQ=WEEKLY",
        "DAILY",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;COUNT=99999",
        "FREQ=MONTHLY;BYMONTHDAY=99",
        "FREQ=YEARLY;BYDAY=60MO",
        "FREQ=YEARLY;BYMONTH=1,12;BYDAY=8MO",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1",
        "FREQ=DAILY\nRRULE:FREQ=SECONDLY",
        "FREQ=DAILY;UNTIL=20250101Z",
    )
]
REFUSED += [
    ("too long ago", {"starts_at": "0001-01-01T00:00"}),
    ("an offset", {"starts_at": "2026-01-04T02:30+01:00"}),
    ("no time", {"starts_at": "tomorrow"}),
    ("no zone", {"timezone": "Europe/Atlantis"}),
    ("a folder", {"timezone": "../../etc/passwd"}),
    ("no length", {"duration_minutes": 0}),
    ("an unknown field", {"colour": "red"}),
]


@pytest.fixture
def store() -> FakeWindowStore:
    return FakeWindowStore()


@pytest.fixture
def served(store: FakeWindowStore, watch: FakeWatch, clock: HandClock) -> Served:
    numbers = itertools.count(1)
    service = WindowService(
        store=store,
        targets=watch,
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
    )
    return Served(windows_routes.routes.router, service)


@pytest.mark.parametrize("given", [row for _, row in REFUSED], ids=[name for name, _ in REFUSED])
def test_what_is_no_window_is_refused(served: Served, given: dict[str, Any]) -> None:
    answer = served.send("POST", "/v1/maintenance-windows", REQUEST | given)
    assert (answer.status, answer.body["code"]) == (422, "VALIDATION_ERROR")


def test_windows_are_made_read_replaced_and_removed(served: Served) -> None:
    made = served.send("POST", "/v1/maintenance-windows", REQUEST)
    assert made.status == 201
    path = f"/v1/maintenance-windows/{made.body['id']}"
    assert served.send("GET", path).body == made.body
    assert served.send("GET", "/v1/maintenance-windows").body["items"] == [made.body]
    changed = served.send("PUT", path, REQUEST | {"name": "Moves", "recurrence": None})
    assert (changed.body["name"], changed.body["recurrence"]) == ("Moves", None)
    assert served.send("GET", path, tenant="other").status == 404
    assert served.send("DELETE", path, tenant="other").status == 404
    assert served.send("DELETE", path).status == 204
    assert served.send("GET", path).status == 404


def test_a_window_names_targets_that_exist_or_were_named_before(
    served: Served, targets: TargetService
) -> None:
    one = targets.create("acme", "https://one.example/", Options()).target_id
    foreign = targets.create("other", "https://two.example/", Options()).target_id
    path = "/v1/maintenance-windows"
    for wrong in ("t_mistyped", foreign):
        refused = served.send("POST", path, REQUEST | {"target_ids": [one, wrong]})
        assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")
        [field] = refused.body["details"]["fields"]
        assert (field["path"], field["message"]) == ("target_ids.1", "no such target")
    assert served.send("GET", path).body["items"] == []
    made = served.send("POST", path, REQUEST | {"target_ids": [one]})
    assert made.status == 201
    targets.remove("acme", one)
    path = f"{path}/{made.body['id']}"
    assert served.send("PUT", path, REQUEST | {"target_ids": [one, "t_new"]}).status == 422
    kept = served.send("PUT", path, REQUEST | {"target_ids": [one]})
    assert (kept.status, kept.body["target_ids"]) == (200, [one])


def test_a_tenant_has_fifty_windows_in_pages(served: Served) -> None:
    for _ in range(50):
        assert served.send("POST", "/v1/maintenance-windows", REQUEST).status == 201
    assert served.send("POST", "/v1/maintenance-windows", REQUEST).status == 409
    first = served.send("GET", "/v1/maintenance-windows", limit="30").body
    cursor = first["next_cursor"]
    rest = served.send("GET", "/v1/maintenance-windows", limit="30", cursor=cursor).body
    assert (first["has_more"], rest["has_more"], rest["next_cursor"]) == (True, False, None)
    ids = [each["id"] for each in (*first["items"], *rest["items"])]
    assert ids == [f"mw_{number:04}" for number in range(1, 51)]


def test_a_window_holds_for_the_targets_that_it_names(
    store: FakeWindowStore, clock: HandClock
) -> None:
    named = replace(window("2026-01-02T00:00", "FREQ=DAILY", 1440), target_ids=("t_1",))
    store.add(named)
    maintenance = Maintenance(store=store, clock=clock)
    assert maintenance.covers("acme", "t_1", clock())
    assert not maintenance.covers("acme", "t_2", clock())
    assert not maintenance.covers("other", "t_1", clock())
    store.remove(named)
    assert maintenance.covers("acme", "t_1", clock())
    clock.advance(31)
    assert not maintenance.covers("acme", "t_1", clock())


def test_an_old_rule_is_asked_quickly_enough() -> None:
    old = window("1990-01-01T12:00", "FREQ=DAILY")
    assert rules.open_until(old, utc("2026-01-05T11:10"))
    assert not rules.open_until(old, utc("2026-01-05T11:10") + timedelta(hours=2))


def test_a_rule_that_never_happens_is_not_searched_for_eight_thousand_years() -> None:
    began = time.process_time()
    with pytest.raises(ValidationFailed):
        window("2026-01-01T00:00", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231")
    assert time.process_time() - began < 3


def test_rules_say_which_field_is_wrong() -> None:
    with pytest.raises(ValidationFailed) as refused:
        window("2026-01-01T00:00", "FREQ=HOURLY")
    assert refused.value.details["fields"][0]["path"] == "recurrence"

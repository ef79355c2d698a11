"""Targets of all kinds: requests, failures and secrets (M-06)."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout, UrlBlocked
from spinneret.monitoring import event_types, limits
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.service import CheckDisposition
from spinneret.monitoring.heartbeats.service import HeartbeatService
from spinneret.monitoring.incidents.models import Incident
from spinneret.monitoring.incidents.service import IncidentService
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.targets.models import OwnRequest, RecordType, Status
from spinneret.monitoring.targets.subjects import DnsName, Heartbeat, TcpAddress
from spinneret.monitoring.wiring import TargetApi
from spinneret.web.politeness.models import PaceLimits
from tests.fakes.checking import CheckWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.monitoring import FakeIncidentStore
from tests.unit.runtime.api import Answer
from tests.unit.served import Served
from watch import heartbeats_routes, targets_routes

URL = "https://site.example/page"
PORT = TcpAddress("db.example", 22)
DAY = 24 * 3600
A_RECORD = {"kind": "dns", "host": "a.example", "record_type": "A"}
SSH = {"kind": "tcp", "host": "a.example", "port": 22}


@pytest.fixture
def served(world: CheckWorld) -> Served:
    api = TargetApi(
        targets=world.targets,
        checks=world.watch,
        incidents=IncidentService(store=FakeIncidentStore(world.watch), clock=world.clock),
        figures=FigureService(rollups=world.watch, checks=world.watch, clock=world.clock),
        default_interval=15,
    )
    return Served(targets_routes.routes.router, api)


@pytest.fixture
def calls(world: CheckWorld) -> Served:
    parts = world.parts()
    service = HeartbeatService(
        targets=world.watch,
        checks=world.watch,
        covers=world.maintenance.covers,
        relay_events=parts.relay_events,
        announce=parts.announce,
        clock=world.clock,
        new_id=world.new_id,
    )
    return Served(heartbeats_routes.routes.router, service)


def made(served: Served, **given: Any) -> dict[str, Any]:
    answer = served.send("POST", "/v1/targets", given)
    assert answer.status == 201, answer.body
    found: dict[str, Any] = answer.body
    return found


def checked(world: CheckWorld, target_id: str) -> CheckResult:
    assert world.check(target_id) is CheckDisposition.CHECKED
    page = world.watch.results("acme", target_id, since=None, until=None, after=None, limit=1)
    return page.items[0]


def failure(reason: str) -> FetchFailed:
    return FetchFailed("it failed", details={"reason": reason})


# ---------------------------------------------------------------- Fields of a request


# covers M-06
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            {"kind": "tcp", "host": "DB.example", "port": 5432},
            {"url": "tcp://db.example:5432", "host": "db.example", "port": 5432},
        ),
        (
            {"kind": "tcp", "host": "2606:4700::1111", "port": 22},
            {"url": "tcp://[2606:4700::1111]:22", "host": "2606:4700::1111", "port": 22},
        ),
        (
            {"kind": "dns", "host": "_dmarc.Example.com", "record_type": "TXT"},
            {"url": "dns:_dmarc.example.com?type=TXT", "record_type": "TXT"},
        ),
        (
            {
                "kind": "dns",
                "host": "a.example",
                "record_type": "MX",
                "expected": ["10 MX.a.example."],
            },
            {"expected": ["10 mx.a.example"]},
        ),
        (
            {"kind": "heartbeat", "name": "Backup"},
            {"interval_seconds": DAY, "failure_threshold": 1, "recovery_threshold": 1},
        ),
        (
            {"kind": "heartbeat", "name": "Backup", "grace_seconds": 60, "failure_threshold": 2},
            {"grace_seconds": 60, "failure_threshold": 2, "last_called_at": None},
        ),
    ],
)
def test_a_target_of_each_kind_shows_what_is_checked(
    served: Served, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    found = made(served, **given)
    assert found["kind"] == given["kind"]
    assert {name: found[name] for name in shown} == shown


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"kind": "tcp", "host": "db.example"}, 422, "port"),
        ({"kind": "tcp", "host": "db.example", "port": 1, "url": URL}, 422, "url"),
        ({"kind": "tcp", "host": "a/b", "port": 1}, 422, "host"),
        ({"kind": "tcp", "host": "10.0.0.1", "port": 5432}, 403, "host"),
        ({"kind": "tcp", "host": "localhost", "port": 22}, 403, "host"),
        ({**SSH, "conditions": ["time < 1s"]}, 422, "conditions"),
        ({"kind": "dns", "host": "a.example"}, 422, "record_type"),
        ({"kind": "dns", "host": "1.1.1.1", "record_type": "A"}, 422, "host"),
        ({"kind": "dns", "host": "db.internal", "record_type": "A"}, 403, "host"),
        ({**A_RECORD, "expected": ["::1"]}, 422, "expected"),
        ({**A_RECORD, "record_type": "MX", "expected": ["mx"]}, 422, "expected"),
        ({**A_RECORD, "grace_seconds": 9}, 422, "grace_seconds"),
        ({"kind": "heartbeat"}, 422, "name"),
        ({"kind": "heartbeat", "name": "B", "interval_seconds": 30}, 422, "interval_seconds"),
        ({"kind": "heartbeat", "name": "B", "degraded_ms": 9}, 422, "degraded_ms"),
        ({"url": URL, "expected": ["x"]}, 422, "expected"),
        ({"url": URL, "request": {"body": "x"}}, 422, "request.body"),
        ({"url": URL, "request": {"headers": {"Host": "b.example"}}}, 422, "request.headers.Host"),
        (
            {
                "url": URL,
                "request": {
                    "headers": {"authorization": "x"},
                    "credentials": {"username": "u", "password": "p"},
                },
            },
            422,
            "request.headers.authorization",
        ),
        ({"url": URL, "method": "POST", "request": {"body": "ä" * 2048}}, 422, "request"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_kind_is_refused_with_its_field(
    served: Served, given: dict[str, Any], status: int, field: str
) -> None:
    answer = served.send("POST", "/v1/targets", given)
    assert answer.status == status, answer.body
    assert [each["path"] for each in answer.body["details"]["fields"]] == [field]


def test_the_same_port_is_one_target_and_each_heartbeat_its_own(served: Served) -> None:
    port = {"kind": "tcp", "host": "db.example", "port": 5432}
    assert made(served, **port)["id"] == served.send("POST", "/v1/targets", port).body["id"]
    beats = [made(served, kind="heartbeat", name="Backup")["id"] for _ in range(2)]
    assert beats[0] != beats[1]


# ---------------------------------------------------------------- TCP


# covers M-06
@pytest.mark.parametrize(
    ("error", "outcome", "tries"),
    [
        (None, Outcome.UP, 1),
        (failure("connection"), Outcome.DOWN, 3),
        (FetchTimeout("too slow"), Outcome.DOWN, 3),
        (failure("unknown_host"), Outcome.DOWN, 1),
        (UrlBlocked("leads inside"), Outcome.DOWN, 1),
    ],
)
def test_an_open_port_is_up(
    world: CheckWorld, error: DomainError | None, outcome: Outcome, tries: int
) -> None:
    if error is not None:
        world.ports.errors["db.example", 22] = error
    result = checked(world, world.target(PORT))
    assert (result.outcome, result.tries) == (outcome, tries)
    assert (result.error is None) == (outcome is Outcome.UP)
    assert world.ports.connected == [("db.example", 22)] * tries
    if error is None:
        assert (result.latency_ms, result.status_code) == (3, None)


def test_ports_of_one_host_share_its_rate_limit() -> None:
    world = CheckWorld(limits=PaceLimits(rate=0.1, burst=1))
    first, second = (world.target(TcpAddress("db.example", port)) for port in (22, 23))
    due = [world.come_due(each) for each in (first, second)]
    world.worker().run(due, lambda: 900.0)
    assert len(world.ports.connected) == 1


def test_a_slow_connection_is_degraded(world: CheckWorld) -> None:
    result = checked(world, world.target(PORT, degraded_ms=2))
    assert (result.outcome, result.latency_ms) == (Outcome.DEGRADED, 3)


# ---------------------------------------------------------------- DNS


# covers M-06
@pytest.mark.parametrize(
    ("record_type", "answer", "expected", "outcome", "code"),
    [
        ("TXT", ["v=spf1 -all"], (), Outcome.UP, None),
        ("TXT", ["one", "two"], ("two",), Outcome.UP, None),
        ("TXT", ["one"], ("one", "two"), Outcome.DOWN, "RECORD_MISSING"),
        ("MX", [], (), Outcome.DOWN, "RECORD_MISSING"),
        ("MX", ["10 mx.xn--bcher-kva.de"], ("10 mx.Bücher.de.",), Outcome.UP, None),
        ("NS", ["ns.xn--bcher-kva.de"], ("ns.bücher.de",), Outcome.UP, None),
        ("A", ["93.184.216.34"], ("93.184.216.34",), Outcome.UP, None),
        ("A", ["93.184.216.34", "10.0.0.1"], (), Outcome.DOWN, "URL_BLOCKED"),
        ("AAAA", ["fd00::1"], (), Outcome.DOWN, "URL_BLOCKED"),
        ("A", failure("unknown_host"), (), Outcome.DOWN, "FETCH_FAILED"),
    ],
)
def test_a_record_is_up_if_all_expected_values_are_there(
    world: CheckWorld,
    record_type: str,
    answer: Any,
    expected: tuple[str, ...],
    outcome: Outcome,
    code: str | None,
) -> None:
    world.records.answers["a.example", record_type] = answer
    subject = DnsName("a.example", RecordType(record_type))
    result = checked(world, world.target(subject, expected=expected))
    assert (result.outcome, result.error and result.error.code) == (outcome, code)
    assert "10.0.0.1" not in str(result)
    assert world.sites.seen == []


# ---------------------------------------------------------------- HTTP with own headers and bodies


# covers M-06
def test_headers_body_and_credentials_are_sent_and_never_shown(
    served: Served, world: CheckWorld
) -> None:
    given = {
        "headers": {"X-Api-Key": "hush-header", "Content-Type": "application/json"},
        "body": '{"ask": "hush-body"}',
        "credentials": {"username": "hush-user", "password": "hush-password"},
    }
    target = made(served, url=URL, method="POST", request=given)
    checked(world, target["id"])
    [sent] = world.sites.requests
    pair = base64.b64encode(b"hush-user:hush-password").decode()
    assert sent.method == "POST"
    assert sent.body == b'{"ask": "hush-body"}'
    assert sent.headers == given["headers"] | {"Authorization": f"Basic {pair}"}  # type: ignore[operator]  # both are dictionaries
    assert target["request"] == {
        "header_names": ["X-Api-Key", "Content-Type"],
        "has_body": True,
        "has_credentials": True,
    }
    everywhere = json.dumps([target, repr(world.watched(target["id"])), repr(sent)], default=str)
    assert "hush" not in everywhere


def test_the_request_is_kept_until_it_is_replaced(served: Served, world: CheckWorld) -> None:
    target = made(served, url=URL, request={"headers": {"X-Key": "one"}})
    path = f"/v1/targets/{target['id']}"
    named = {"header_names": ["X-Key"], "has_body": False, "has_credentials": False}
    assert served.send("PATCH", path, {"name": "Shop"}).body["request"] == named
    assert served.send("PATCH", path, {"request": None}).body["request"] is None
    checked(world, target["id"])
    assert world.sites.requests[-1].headers == {}


@pytest.mark.parametrize(("method", "tries"), [("POST", 1), ("PATCH", 1), ("PUT", 3), ("GET", 3)])
def test_only_requests_that_may_be_repeated_are_tried_again(
    world: CheckWorld, method: str, tries: int
) -> None:
    world.sites.answers[URL] = fetched_page(URL, b"", status_code=500)
    assert checked(world, world.target(URL, method=method)).tries == tries


def test_a_request_that_cannot_be_decrypted_says_nothing_about_the_site(world: CheckWorld) -> None:
    sealed = world.seal.close("other", OwnRequest(headers={"X-Key": "one"}))
    result = checked(world, world.target(URL, request=sealed))
    assert result.outcome is Outcome.UNKNOWN


# ---------------------------------------------------------------- Heartbeats


def beat(world: CheckWorld, **options: Any) -> str:
    given = {"interval_seconds": 3600, "grace_seconds": 600, "failure_threshold": 1}
    return world.target(Heartbeat(), recovery_threshold=1, name="Backup", **given | options)


def token_of(served: Served, target_id: str) -> str:
    answer = served.send("POST", f"/v1/targets/{target_id}/heartbeat")
    assert answer.status == 201, answer.body
    assert answer.headers["Cache-Control"] == "no-store"
    path, _, token = answer.body["path"].partition("?token=")
    assert path == "/heartbeats"
    return str(token)


def called(calls: Served, token: str, method: str = "GET") -> Answer:
    return calls.send(method, "/heartbeats", token=token)


def incidents(world: CheckWorld, target_id: str) -> list[Incident]:
    return list(world.watch.incident_page("acme", target_id, None, 9).items)


def test_an_interval_of_null_is_the_default_of_the_kind(served: Served, world: CheckWorld) -> None:
    path = f"/v1/targets/{beat(world)}"
    assert served.send("PATCH", path, {"interval_seconds": 3600}).body["interval_seconds"] == 3600
    assert served.send("PATCH", path, {"interval_seconds": None}).body["interval_seconds"] == DAY


# covers M-06
def test_a_late_call_opens_an_incident_and_the_next_call_ends_it(
    served: Served, calls: Served, world: CheckWorld
) -> None:
    target_id = beat(world)
    token = token_of(served, target_id)
    assert called(calls, token).status == 204
    state = world.watched(target_id).state
    assert (state.status, state.called_at) == (Status.UP, world.clock())
    assert state.due_at == world.clock() + timedelta(seconds=4200)

    world.clock.advance(4200)
    late = checked(world, target_id)
    assert late.error is not None
    assert (late.outcome, late.error.code) == (Outcome.DOWN, "CALL_LATE")
    assert late.error.message.endswith("; a call is late after 4200 s")
    [incident] = incidents(world, target_id)
    assert incident.ended_at is None

    world.clock.advance(30)
    assert called(calls, token, "POST").status == 204
    [incident] = incidents(world, target_id)
    assert incident.ended_at == world.clock()
    types = [each.type for each in world.watch.events]
    assert types == [event_types.TARGET_DOWN, event_types.TARGET_UP]
    assert world.handed_on == [("acme", target_id)] * 2
    assert token not in repr(world.watch.events)


def test_a_call_in_time_makes_the_planned_check_stale(
    served: Served, calls: Served, world: CheckWorld
) -> None:
    target_id = beat(world)
    due = world.due(target_id)
    world.clock.advance(4100)
    called(calls, token_of(served, target_id))
    world.clock.advance(100)
    assert world.worker().run([due], lambda: 900.0) in ({"stale": 1}, {"late": 1})
    assert incidents(world, target_id) == []


def test_other_answers_without_the_expected_value_are_the_same_cause(world: CheckWorld) -> None:
    name = DnsName("site.example", RecordType.A)
    target_id = world.target(name, expected=("192.0.2.1",), failure_threshold=1)
    for found in (["93.184.216.34"], ["93.184.216.35"], ["93.184.216.36"]):
        world.records.answers["site.example", "A"] = found
        checked(world, target_id)
    [incident] = incidents(world, target_id)
    messages = [each.message for each in incident.timeline]
    assert messages == ['answered "93.184.216.34" without "192.0.2.1"']


# covers M-06
def test_a_heartbeat_is_up_from_a_call_until_the_next_one_is_late(
    served: Served, calls: Served, world: CheckWorld
) -> None:
    target_id = beat(world, interval_seconds=60, grace_seconds=3540)
    token = token_of(served, target_id)
    for _ in range(3):
        called(calls, token)
        world.clock.advance(1800)
    figures = FigureService(rollups=world.watch, checks=world.watch, clock=world.clock)
    for window in (Window.HOUR, Window.DAY):
        known = figures.figures(world.watched(target_id), window).tally
        assert (known.up_ms, known.down_ms) == (3_600_000 - (window is Window.HOUR) * 1_800_000, 0)


def test_a_heartbeat_that_stays_late_is_checked_each_interval(world: CheckWorld) -> None:
    target_id = beat(world, reminder_minutes=60)
    for _ in range(3):
        checked(world, target_id)
    assert len(incidents(world, target_id)) == 1
    types = [each.type for each in world.watch.events]
    assert types == [event_types.TARGET_DOWN] + [event_types.TARGET_REMINDER] * 2


def test_a_heartbeat_that_is_late_in_maintenance_fails_at_its_end(world: CheckWorld) -> None:
    target_id = beat(world)
    world.maintenance.targets.add(target_id)
    assert checked(world, target_id).in_maintenance
    assert incidents(world, target_id) == []
    assert world.watched(target_id).state.due_at == world.clock() + world.maintenance.MORE
    world.maintenance.targets.clear()
    assert not checked(world, target_id).in_maintenance
    assert len(incidents(world, target_id)) == 1


def test_a_tick_sends_the_check_of_a_heartbeat_at_its_exact_time(world: CheckWorld) -> None:
    target_id = beat(world, interval_seconds=60, grace_seconds=10)
    due_at = world.watched(target_id).state.due_at
    world.tick().run()
    assert [each.due_at for each in world.lane.checks] == [due_at]


def test_a_new_address_ends_the_former_one(
    served: Served, calls: Served, world: CheckWorld
) -> None:
    target_id = beat(world)
    former, token = (token_of(served, target_id) for _ in range(2))
    assert called(calls, former).status == 404
    assert called(calls, token).status == 204
    assert token not in repr(world.watched(target_id))
    world.targets.remove("acme", target_id)
    assert called(calls, token).status == 404


def test_only_heartbeats_are_called(served: Served, world: CheckWorld) -> None:
    answer = served.send("POST", f"/v1/targets/{world.target(URL)}/heartbeat")
    assert answer.status == 409
    other = served.send("POST", f"/v1/targets/{beat(world)}/heartbeat", tenant="other")
    assert other.status == 404


def test_calls_in_a_row_and_calls_of_a_paused_heartbeat_change_nothing(
    served: Served, calls: Served, world: CheckWorld
) -> None:
    target_id = beat(world)
    token = token_of(served, target_id)
    called(calls, token)
    known = world.watched(target_id)
    world.clock.advance(limits.HEARTBEAT_GAP_SECONDS - 1)
    assert called(calls, token).status == 204
    assert world.watched(target_id) == known
    world.clock.advance(1)
    called(calls, token)
    assert world.watched(target_id) != known
    world.targets.pause("acme", target_id)
    paused = world.watched(target_id)
    assert called(calls, token).status == 204
    assert world.watched(target_id) == paused


def test_a_call_measures_no_latency(served: Served, calls: Served, world: CheckWorld) -> None:
    target_id = beat(world)
    called(calls, token_of(served, target_id))
    hour = world.watched(target_id).state.hour
    assert hour is not None
    assert (hour.tally.checks, dict(hour.tally.latencies)) == (1, {})
    assert served.send("GET", f"/v1/targets/{target_id}").body["last_latency_ms"] is None

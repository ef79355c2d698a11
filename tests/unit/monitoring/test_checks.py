"""One check (M-03): tries, fallbacks, outcomes, and busy hosts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchFailed,
    FetchTimeout,
    TooManyRedirects,
    UrlBlocked,
)
from spinneret.kernel.passes import FAILED
from spinneret.monitoring.checks import rules
from spinneret.monitoring.checks.asking import HostBusy
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.running import RunningCheck
from spinneret.monitoring.checks.service import CheckDisposition, Checker, HostWait
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.slots.models import host_slot
from spinneret.monitoring.targets.models import Method, Status
from spinneret.web.fetching.models import Certificate, FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from tests.fakes.checking import CheckWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.time import START
from tests.rows import each_row

URL = "https://site.example/page"
ELSEWHERE = "https://other.example/there"


def last(world: CheckWorld, target_id: str) -> CheckResult:
    page = world.watch.results("acme", target_id, since=None, until=None, after=None, limit=1)
    return page.items[0]


def checked(world: CheckWorld, target_id: str) -> CheckResult:
    assert world.check(target_id) is CheckDisposition.CHECKED
    return last(world, target_id)


def page(status: int, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fetched_page(URL, b"body", status_code=status, headers=named)


def failure(reason: str, **details: Any) -> FetchFailed:
    return FetchFailed("site.example failed", details={"reason": reason, **details})


# covers M-03
def test_a_good_answer_is_up(world: CheckWorld) -> None:
    result = checked(world, world.target(URL))
    assert (result.outcome, result.status_code, result.error) == (Outcome.UP, 200, None)
    assert (result.tries, result.final_url) == (1, URL)
    assert result.body_sha256 is not None


def test_the_url_is_requested_as_it_was_given(world: CheckWorld) -> None:
    checked(world, world.target(f"{URL}/?a=1#part"))
    assert world.sites.requests[0].url.text == f"{URL}/?a=1"


# covers M-03
@pytest.mark.parametrize(
    ("answers", "tries", "outcome"),
    [
        ([page(500), page(200)], 2, Outcome.UP),
        ([page(503), page(502), page(200)], 3, Outcome.UP),
        ([page(500), page(500), page(500), page(200)], 3, Outcome.DOWN),
        ([page(408), page(429), page(200)], 3, Outcome.UP),
        ([page(429, retry_after="7"), page(200)], 1, Outcome.DOWN),
        ([page(503, retry_after="7"), page(200)], 2, Outcome.UP),
        ([page(404), page(200)], 1, Outcome.DOWN),
        ([FetchTimeout("slow"), page(200)], 2, Outcome.UP),
        ([failure("connection"), failure("dns"), page(200)], 3, Outcome.UP),
        ([failure("protocol"), page(200)], 2, Outcome.UP),
        ([failure("unknown_host"), page(200)], 1, Outcome.DOWN),
        ([failure("tls", verify_code=10), page(200)], 1, Outcome.DOWN),
        ([UrlBlocked("leads inside"), page(200)], 1, Outcome.DOWN),
        ([TooManyRedirects("round and round"), page(200)], 1, Outcome.DOWN),
        ([page(301)], 1, Outcome.UP),
    ],
)
def test_what_may_pass_is_tried_again_after_200_and_400_ms(
    world: CheckWorld, answers: list[Any], tries: int, outcome: Outcome
) -> None:
    world.sites.answers[URL] = list(answers)
    target_id = world.target(URL)
    due = world.come_due(target_id)
    result = checked(world, target_id)
    assert (result.outcome, result.tries) == (outcome, tries)
    times = [(at - due.due_at).total_seconds() for at, _ in world.sites.seen]
    assert times == [0.0, 0.2, 0.6][:tries]
    assert (result.error is None) == (outcome is Outcome.UP)


# covers M-03
def test_the_status_is_null_without_an_answer_and_the_reason_is_told(world: CheckWorld) -> None:
    world.sites.answers[URL] = failure("tls", verify_code=10)
    result = checked(world, world.target(URL))
    assert result.status_code is None
    assert result.error is not None
    assert "certificate has expired" in result.error.message


# covers M-05
def test_an_unconfirmed_failure_is_checked_again_sooner(world: CheckWorld) -> None:
    target_id = world.target(URL, interval_seconds=86_400, retry_seconds=60)
    first = world.watched(target_id).state.due_at
    assert first is not None
    assert first - world.clock() <= timedelta(hours=1)
    waits = []
    for status in (200, 404, 404, 404, 404, 200, 200):
        world.sites.answers[URL] = page(status)
        world.come_due(target_id)
        checked(world, target_id)
        due_at = world.watched(target_id).state.due_at
        assert due_at is not None
        waits.append((due_at - world.clock()).total_seconds() <= 60)
    assert waits == [False, True, True, False, False, True, False]
    assert [each.state.due_at is not None for each in world.announced] == [True] * 3


def test_a_rare_check_in_maintenance_is_repeated_at_its_end(world: CheckWorld) -> None:
    rare = world.target(URL, interval_seconds=86_400)
    frequent = world.target(f"{URL}frequent", interval_seconds=60)
    world.sites.answers[URL] = page(404)
    for _ in range(3):
        world.come_due(rare)
        world.maintenance.targets |= {rare, frequent}
        assert checked(world, rare).in_maintenance
        assert checked(world, frequent).in_maintenance
        due_at = world.watched(rare).state.due_at
        assert due_at == last(world, rare).checked_at + world.maintenance.MORE
        frequent_at = world.watched(frequent).state.due_at
        assert frequent_at is not None
        assert frequent_at - world.clock() <= timedelta(seconds=60)
        assert {each.target.id for each in world.announced} == {rare}
        world.maintenance.targets.clear()
        assert not checked(world, rare).in_maintenance
    assert world.watched(rare).state.status is Status.DOWN


# covers M-05
def test_in_maintenance_no_failure_is_checked_again_sooner(world: CheckWorld) -> None:
    target_id = world.target(URL, interval_seconds=86_400, retry_seconds=60)
    world.sites.answers[URL] = page(404)
    waits = []
    for _ in range(2):
        world.come_due(target_id)
        checked(world, target_id)
        due_at = world.watched(target_id).state.due_at
        assert due_at is not None
        waits.append((due_at - world.clock()).total_seconds() <= 60)
        world.maintenance.targets.add(target_id)
    assert waits == [True, False]


def test_no_request_outlasts_the_slot_of_its_worker(world: CheckWorld) -> None:
    parts, now = world.parts(), world.clock()
    slot = parts.slots.take(host_slot("site.example"), "one", now, now + timedelta(hours=1))
    assert slot is not None
    check = RunningCheck(parts, slot, world.worker_slot(seconds=20.0))
    check.require_room(5.0)
    with pytest.raises(HostBusy):
        check.require_room(19.0)


def certificate(name: str, days: int, names: tuple[str, ...] = ()) -> Certificate:
    return Certificate(
        subject=f"CN={name}",
        issuer="CN=authority",
        names=names,
        not_before=START - timedelta(days=90 - days),
        not_after=START + timedelta(days=days),
    )


def test_a_result_keeps_a_certificate_without_its_names(world: CheckWorld) -> None:
    names = tuple(f"h{number}.example" for number in range(500))
    world.sites.certificates["site.example"] = certificate("site.example", 60, names)
    found = checked(world, world.target(URL)).certificate
    assert found == certificate("site.example", 60)


@pytest.mark.parametrize(("own", "others"), [(10, 60), (60, 10)])
@pytest.mark.parametrize("retried", [False, True])
def test_of_the_certificates_on_the_way_the_one_that_ends_first_is_told(
    world: CheckWorld, own: int, others: int, *, retried: bool
) -> None:
    """This also holds if a second try starts at the redirect's target."""
    world.sites.certificates |= {
        "site.example": certificate("site.example", own),
        "other.example": certificate("other.example", others),
    }
    status = 500 if retried else 200
    world.sites.answers[URL] = fetched_page(ELSEWHERE, b"", redirects=(URL,), status_code=status)
    target_id = world.target(URL, conditions=("certificate < 11d",))
    result = checked(world, target_id)
    assert (result.outcome, result.tries) == (Outcome.UP, 2 if retried else 1)
    first = "site.example" if own < others else "other.example"
    assert result.certificate == certificate(first, 10)
    [event] = [each for each in world.watch.events if each.type == "certificate.expiring"]
    assert event.data["days_left"] == 9


def test_a_check_that_goes_on_behind_a_redirect_forgets_no_certificate() -> None:
    """The check waited for the redirect's host; the next tick doesn't repeat the first request."""
    world = CheckWorld(limits=PaceLimits(rate=0.1, burst=1))
    world.sites.certificates |= {
        "site.example": certificate("site.example", 10),
        "other.example": certificate("other.example", 60),
    }
    world.sites.answers[URL] = fetched_page(ELSEWHERE, b"", redirects=(URL,))
    world.sites.answers[ELSEWHERE] = fetched_page(ELSEWHERE, b"")
    target_id = world.target(URL, interval_seconds=3600, conditions=("certificate > 11d",))
    world.come_due(target_id)
    permit = world.pace.admit("other.example", owner="x", limits=world.limits)
    assert isinstance(permit, Permit)
    world.pace.report(permit, HostOutcome.SUCCESS)
    assert world.check(target_id) is CheckDisposition.SKIPPED
    world.clock.advance(15)
    result = checked(world, target_id)
    assert (result.outcome, result.certificate) == (Outcome.UP, None)
    assert [url for _, url in world.sites.seen] == [URL, ELSEWHERE]
    assert world.watched(target_id).state.certificate is None


MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("condition", "length", "fields", "outcome", "told"),
    [
        ("size > 1mb", MEGABYTE, {}, Outcome.DOWN, "size is 1 MB"),
        ("size > 1mb", MEGABYTE + 1, {}, Outcome.UP, ""),
        ("not (size <= 1mb)", 3 * MEGABYTE, {}, Outcome.UP, ""),
        ("size in (5, 1mb)", 3 * MEGABYTE, {}, Outcome.DOWN, "not met"),
        ("size > 2mb", 3 * MEGABYTE, {"content_length": "3145728"}, Outcome.UP, ""),
        ("size < 2mb", 3 * MEGABYTE, {"content_length": "3145728"}, Outcome.DOWN, "size is 3 MB"),
        ("size > 2mb", 3 * MEGABYTE, {}, Outcome.DOWN, "its size is unknown"),
        ("not (size > 2mb)", 3 * MEGABYTE, {}, Outcome.DOWN, "its size is unknown"),
        (
            "size > 2mb",
            3 * MEGABYTE,
            {"content_length": "3145728", "content_encoding": "gzip"},
            Outcome.DOWN,
            "its size is unknown",
        ),
        ('json("a") == 1', 10, {}, Outcome.UP, ""),
        ('json("a") == 1', MEGABYTE, {}, Outcome.UP, ""),
        ('json("a") == 1', MEGABYTE + 1, {}, Outcome.DOWN, "longer than 1 MB"),
        ('json("a") != 2', MEGABYTE + 1, {}, Outcome.DOWN, "longer than 1 MB"),
        ('status == 200 or json("a") == 1', MEGABYTE + 1, {}, Outcome.UP, ""),
    ],
)
def test_of_a_body_beyond_a_megabyte_is_said_what_is_known(
    world: CheckWorld,
    condition: str,
    length: int,
    fields: dict[str, str],
    outcome: Outcome,
    told: str,
) -> None:
    answer = replace(page(200, **fields), body=b'{"a":1}'.ljust(length))
    world.sites.answers[URL] = answer
    result = checked(world, world.target(URL, conditions=(condition,)))
    assert result.outcome is outcome
    assert told in (result.error.message if result.error else "")


def test_the_hash_is_of_the_first_megabyte(world: CheckWorld) -> None:
    world.sites.answers[URL] = [
        replace(page(200), body=b"x" * MEGABYTE + tail) for tail in (b"", b"y", b"zz")
    ]
    target_id = world.target(URL)
    assert len({checked(world, target_id).body_sha256 for _ in range(3)}) == 1


def test_one_reservation_covers_all_tries(world: CheckWorld) -> None:
    slow = CheckWorld(limits=PaceLimits(rate=0.1, burst=1))
    slow.sites.answers[URL] = [page(500), page(500), page(200)]
    target_id = slow.target(URL)
    assert checked(slow, target_id).tries == 3


def test_a_cooling_host_is_left_alone_and_not_called_down(world: CheckWorld) -> None:
    world.sites.answers[URL] = [page(429, retry_after="60"), page(200)]
    first, second = world.target(URL), world.target("https://site.example/other")
    assert checked(world, first).outcome is Outcome.DOWN
    assert world.check(second) is CheckDisposition.SKIPPED
    assert last(world, second).outcome is Outcome.SKIPPED_BUSY
    assert len(world.sites.requests) == 1
    world.clock.advance(61)
    assert checked(world, second).outcome is Outcome.UP


def test_an_outage_behind_retry_after_is_seen_as_fast_as_any(world: CheckWorld) -> None:
    """A maintenance page may respond with 503 and Retry-After; checks don't wait an hour for it."""
    busy = page(503, retry_after="3600")
    world.sites.answers[URL] = busy
    world.sites.answers["https://site.example/other"] = busy
    both = [world.target(URL), world.target("https://site.example/other")]
    began_at = world.clock()
    for _ in range(3):
        for target_id in both:
            assert checked(world, target_id).outcome is Outcome.DOWN
    assert [each.type for each in world.watch.events] == ["target.down"] * 2
    assert (world.clock() - began_at).total_seconds() < 60


@pytest.mark.parametrize("status", [403, 405, 501])
def test_a_get_says_more_where_head_is_refused(world: CheckWorld, status: int) -> None:
    world.sites.answers[URL] = [page(status), page(200)]
    result = checked(world, world.target(URL, method="HEAD"))
    assert (result.outcome, result.tries, result.body_sha256) == (Outcome.UP, 1, None)
    assert [each.method for each in world.sites.requests] == ["HEAD", "GET"]


def test_a_head_that_is_answered_is_enough(world: CheckWorld) -> None:
    world.sites.answers[URL] = [page(404)]
    assert checked(world, world.target(URL, method="HEAD")).outcome is Outcome.DOWN
    assert [each.method for each in world.sites.requests] == ["HEAD"]


def test_redirects_are_followed_and_shown(world: CheckWorld) -> None:
    world.sites.answers[URL] = fetched_page(ELSEWHERE, b"there", redirects=(URL,))
    result = checked(world, world.target(URL))
    assert (result.final_url, result.redirects) == (ELSEWHERE, (URL,))


class Redirecting:
    """A fetcher that redirects to hosts that were requested a moment ago, then fails."""

    def __init__(self, world: CheckWorld, hosts: int) -> None:
        self.world = world
        self.hosts = [f"https://h{number}.example/" for number in range(hosts)]

    def fetch(self, request: FetchRequest) -> Any:
        self.world.clock.advance(0.2)
        for url in map(parse_url, self.hosts):
            pace = self.world.pace
            permit = pace.admit(url.host, owner="other", limits=self.world.limits)
            assert isinstance(permit, Permit)
            pace.report(permit, HostOutcome.SUCCESS)
            assert request.before_redirect is not None
            request.before_redirect(url)
        self.world.clock.advance(0.5)
        raise failure("tls")


def test_waiting_for_a_redirects_host_is_no_latency() -> None:
    world = CheckWorld(limits=PaceLimits(rate=2, burst=1))
    target_id = world.target(URL)
    began_at = world.come_due(target_id).due_at
    assert world.check(target_id, fetcher=Redirecting(world, 2)) is CheckDisposition.CHECKED
    assert last(world, target_id).latency_ms == 700
    assert 1.7 <= (world.clock() - began_at).total_seconds() < 1.8


def test_a_check_that_waits_too_long_behind_redirects_is_skipped() -> None:
    """A wait of more than three seconds could outlast the check's slot."""
    world = CheckWorld(limits=PaceLimits(rate=2, burst=1))
    target_id = world.target(URL)
    assert world.check(target_id, fetcher=Redirecting(world, 7)) is CheckDisposition.SKIPPED


def test_a_try_goes_on_behind_the_redirects_of_the_one_before(world: CheckWorld) -> None:
    world.sites.answers[URL] = fetched_page(ELSEWHERE, b"", redirects=(URL,), status_code=500)
    world.sites.answers[ELSEWHERE] = fetched_page(ELSEWHERE, b"there")
    result = checked(world, world.target(URL))
    assert (result.outcome, result.tries, result.redirects) == (Outcome.UP, 2, (URL,))
    assert [url for _, url in world.sites.seen] == [URL, ELSEWHERE]


def test_no_robots_file_is_read_and_no_breaker_moved(world: CheckWorld) -> None:
    world.sites.answers[URL] = failure("connection")
    target_id = world.target(URL)
    for _ in range(7):
        checked(world, target_id)
    assert {url for _, url in world.sites.seen} == {URL}
    assert world.pace.state("site.example").failures == 0


def test_a_blocked_host_says_nothing_of_the_site(world: CheckWorld) -> None:
    target_id = world.target(URL)
    world.host_service.block("acme", "site.example", "not ours")
    result = checked(world, target_id)
    assert (result.outcome, result.status_code) == (Outcome.UNKNOWN, None)
    assert result.error is not None
    assert result.error.code == "DOMAIN_BLOCKED"
    assert world.sites.requests == []


@pytest.mark.parametrize(
    ("error", "online", "outcome"),
    [
        (failure("connection"), False, Outcome.UNKNOWN),
        (failure("unknown_host"), False, Outcome.UNKNOWN),
        (FetchTimeout("slow"), False, Outcome.UNKNOWN),
        (failure("connection"), True, Outcome.DOWN),
        (failure("tls"), False, Outcome.DOWN),
        (page(500), False, Outcome.DOWN),
    ],
)
def test_when_we_are_offline_nothing_is_said_of_the_site(
    world: CheckWorld, error: Any, online: bool, outcome: Outcome
) -> None:
    world.references = {"https://one.example": False, "https://two.example": online}
    world.sites.answers[URL] = error
    assert checked(world, world.target(URL)).outcome is outcome


def test_a_slow_answer_is_degraded(world: CheckWorld) -> None:
    world.sites.seconds["site.example"] = 0.9
    slow, fine = world.target(URL, degraded_ms=800), world.target(f"{URL}/2", degraded_ms=900)
    result = checked(world, slow)
    assert (result.outcome, result.latency_ms, result.status_code) == (Outcome.DEGRADED, 900, 200)
    assert checked(world, fine).outcome is Outcome.UP


def test_a_target_that_is_not_due_is_left_alone(world: CheckWorld) -> None:
    target_id = world.target(URL)
    due = world.come_due(target_id)
    checker, worker = Checker(parts=world.parts()), world.worker_slot()
    assert checker.check(due, worker) is CheckDisposition.CHECKED
    assert checker.check(due, worker) is CheckDisposition.STALE
    assert len(world.sites.requests) == 1
    world.targets.remove("acme", target_id)
    world.clock.advance(60)
    assert checker.check(due, worker) is CheckDisposition.STALE


def test_a_busy_host_is_skipped_and_stays_due(world: CheckWorld) -> None:
    target_id = world.target(URL)
    due, now = world.come_due(target_id), world.clock()
    world.slots.take(host_slot("site.example"), "other", now, now + timedelta(seconds=60))
    for number in range(1, 5):
        assert world.check(target_id) is CheckDisposition.SKIPPED
        state = world.watched(target_id).state
        assert (state.skips, state.due_at, state.last) == (number, due.due_at, None)
    assert [event.type for event in world.watch.events] == ["target.skipped"]
    assert world.handed_on == [("acme", target_id)]
    assert world.sites.requests == []
    world.clock.advance(61)
    assert world.check(target_id) is CheckDisposition.CHECKED
    assert world.watched(target_id).state.skips == 0


def test_a_list_that_comes_twice_does_not_refuse_the_outcome_of_the_first(
    world: CheckWorld,
) -> None:
    target_id = world.target(URL)
    due, other = world.come_due(target_id), Checker(parts=world.parts())
    worker, seen = world.worker_slot(1), []
    world.sites.arrived = lambda _: seen.append(other.check(due, worker))
    assert world.check(target_id) is CheckDisposition.CHECKED
    assert seen == [HostWait()]
    assert other.check(due, worker) is CheckDisposition.STALE
    assert len(world.sites.requests) == 1
    assert world.watched(target_id).state.skips == 0


def test_a_reservation_of_the_hosts_pace_is_kept_for_the_next_tick() -> None:
    world = CheckWorld(limits=PaceLimits(rate=0.1, burst=1))
    first, second = world.target(URL), world.target(f"{URL}/2")
    for target_id in (first, second):
        world.come_due(target_id)
    assert world.check(first) is CheckDisposition.CHECKED
    assert world.check(second) is CheckDisposition.SKIPPED
    assert world.watched(second).state.reservation == "site.example"
    world.clock.advance(11)
    assert world.check(second) is CheckDisposition.CHECKED
    assert world.watched(second).state.reservation is None


def test_a_pause_ends_the_incident_and_what_was_counted_before(world: CheckWorld) -> None:
    world.sites.answers[URL] = [page(404)] * 4
    target_id = world.target(URL, failure_threshold=2)
    for _ in range(3):
        checked(world, target_id)
    for _ in range(2):
        assert world.targets.pause("acme", target_id).state.incident is None
    [incident] = world.watch.incidents["acme", target_id].values()
    assert (incident.status, incident.ended_at) == ("paused", world.clock())
    assert [(each.status, each.message) for each in incident.timeline] == [
        ("down", "answered 404"),
        ("paused", "paused"),
    ]
    world.targets.resume("acme", target_id)
    checked(world, target_id)
    state = world.watched(target_id).state
    assert (state.status, state.failures, state.incident) == (Status.PENDING, 1, None)
    world.sites.answers[URL] = [page(404), page(200), page(200), page(200)]
    checked(world, target_id)
    assert world.watched(target_id).state.status is Status.DOWN
    second = world.watched(target_id).state.incident
    assert second is not None
    assert second.started_at >= incident.ended_at
    assert [event.type for event in world.watch.events] == ["target.down"] * 2


def test_a_pause_is_time_of_which_nothing_is_known_in_any_window(world: CheckWorld) -> None:
    world.sites.answers[URL] = page(404)
    target_id = world.target(URL, interval_seconds=3600)
    checked(world, target_id)
    world.clock.advance(60)
    world.targets.pause("acme", target_id)
    world.clock.advance(1200)
    world.targets.resume("acme", target_id)
    checked(world, target_id)
    service = FigureService(rollups=world.watch, checks=world.watch, clock=world.clock)
    watched = world.watched(target_id)
    down = [service.figures(watched, window).tally.down_ms for window in (Window.HOUR, Window.DAY)]
    assert down == [60_000, 60_000]


SENTENCES = [
    ("site.example violated HTTP", {"reason": "protocol"}, ""),
    ("site.example sent more than 200 header fields", {"reason": "headers"}, ""),
    (
        "the connection to site.example failed",
        {"reason": "connection"},
        ": it was refused or broke",
    ),
    ("site.example could not be resolved", {"reason": "unknown_host"}, ": its name doesn't exist"),
    ("site.example failed in TLS", {"reason": "tls"}, ": it offers no TLS that we support"),
    (
        "site.example failed in TLS",
        {"reason": "tls", "verify_code": 10},
        ": its certificate has expired",
    ),
]


@each_row([(f"{text}{more}", (text, details, more)) for text, details, more in SENTENCES])
def test_a_failure_is_one_sentence_that_repeats_nothing(
    row: tuple[str, dict[str, Any], str],
) -> None:
    text, details, more = row
    asked = CheckResult(id="res_1", checked_at=START, outcome=Outcome.UNKNOWN, late_ms=0)
    result = rules.unanswered(asked, FetchFailed(text, details=details), is_online=True)
    assert result.error is not None
    assert result.error.message == f"{text}{more}"


def test_an_owners_change_refuses_the_outcome_of_a_check_under_way(world: CheckWorld) -> None:
    target_id = world.target(URL)
    world.sites.arrived = lambda _: world.targets.pause("acme", target_id) and None
    assert world.check(target_id) is CheckDisposition.STALE
    state = world.watched(target_id).state
    assert (state.due_at, state.last) == (None, None)
    assert world.slots.taken([host_slot("site.example")], world.clock()) == 0


def test_the_slot_is_given_back_whatever_happens(world: CheckWorld) -> None:
    target_id = world.target(URL)

    class Broken:
        def fetch(self, request: FetchRequest) -> Any:
            raise ZeroDivisionError

    assert world.check(target_id, fetcher=Broken()) == FAILED
    assert world.slots.taken([host_slot("site.example")], world.clock()) == 0
    assert world.check(target_id) is CheckDisposition.CHECKED


def test_no_try_begins_that_could_outlast_the_slots(world: CheckWorld) -> None:
    """A process that was stopped for a minute must not send requests in another process's slots."""
    target_id = world.target(URL)
    world.come_due(target_id)
    parts = world.parts()
    polite = parts.polite

    def stalled(asking: Any) -> Any:
        world.clock.advance(60)
        return polite(asking)

    assert world.check(target_id, polite=stalled) is CheckDisposition.SKIPPED
    assert world.sites.requests == []


def test_a_redirect_to_a_host_with_a_check_is_not_followed(world: CheckWorld) -> None:
    world.sites.answers[URL] = fetched_page(ELSEWHERE, b"there", redirects=(URL,))
    target_id = world.target(URL)
    world.come_due(target_id)
    now = world.clock()
    other = world.slots.take(host_slot("other.example"), "x", now, now + timedelta(seconds=60))
    assert other is not None
    assert world.check(target_id) is CheckDisposition.SKIPPED
    world.slots.give_back(other)
    assert world.check(target_id) is CheckDisposition.CHECKED
    assert world.slots.taken([host_slot("other.example")], world.clock()) == 0


def test_what_our_own_parts_cannot_do_is_no_outcome(world: CheckWorld) -> None:
    target_id = world.target(URL)
    world.come_due(target_id)
    world.hosts.store.available = False
    with pytest.raises(DependencyUnavailable):
        world.check(target_id)
    assert world.watched(target_id).state.last is None


@pytest.fixture
def conditions() -> Callable[[CheckWorld, str], CheckResult]:
    pytest.importorskip("lark")

    def result(world: CheckWorld, condition: str) -> CheckResult:
        return checked(world, world.target(URL, conditions=(condition,)))

    return result


def test_conditions_decide(
    world: CheckWorld, conditions: Callable[[CheckWorld, str], CheckResult]
) -> None:
    world.sites.answers[URL] = page(404)
    assert conditions(world, "status in (200, 404)").outcome is Outcome.UP
    world = CheckWorld()
    result = conditions(world, 'body contains "missing"')
    assert result.error is not None
    assert (result.outcome, result.error.code) == (Outcome.DOWN, "CONDITION_FAILED")
    world = CheckWorld()
    world.sites.answers[URL] = page(404)
    assert conditions(world, 'body contains "body"').outcome is Outcome.DOWN


def test_an_outcome_holds_while_the_limit_of_the_host_makes_checks_rarer(
    world: CheckWorld,
) -> None:
    target_id = world.target(URL, interval_seconds=15)
    for _ in range(2):
        due = replace(world.come_due(target_id), paced_seconds=300)
        assert world.worker().run([due], lambda: 900.0) == {"checked": 1}
        world.clock.advance(285)
    hour = world.watched(target_id).state.hour
    assert hour is not None
    assert hour.tally.up_ms > 250_000


def test_the_answer_to_another_request_is_no_new_content(world: CheckWorld) -> None:
    target_id = world.target(URL, watch_content=True)
    reports = []
    for body, changes in ((b"a", {}), (b"b", {"method": Method.POST}), (b"c", {"name": "Shop"})):
        world.sites.answers[URL] = fetched_page(URL, body)
        world.targets.update("acme", target_id, changes)
        checked(world, target_id)
        reports.append(len(world.watch.events))
    assert reports == [0, 0, 1]
    world.targets.pause("acme", target_id)
    world.targets.update("acme", target_id, {"method": Method.GET})
    world.targets.resume("acme", target_id)
    world.sites.answers[URL] = fetched_page(URL, b"d")
    checked(world, target_id)
    assert len(world.watch.events) == 1


def test_a_condition_that_fails_by_another_value_fails_for_the_same_cause(
    world: CheckWorld,
) -> None:
    target_id = world.target(URL, conditions=("size < 1kb",), failure_threshold=1)
    for length in (1030, 1040, 1050):
        world.sites.answers[URL] = fetched_page(URL, b"x" * length)
        checked(world, target_id)
    [incident] = world.watch.incident_page("acme", target_id, None, 9).items
    messages = [each.message for each in incident.timeline]
    assert messages == ["not met: size < 1kb (size is 1030 B)"]


def test_late_checks_say_by_how_much(world: CheckWorld) -> None:
    target_id = world.target(URL)
    world.come_due(target_id)
    world.clock.advance(3.5)
    assert checked(world, target_id).late_ms == 3500


# covers T-07
def test_a_suspended_tenants_target_is_not_checked_but_due_later(world: CheckWorld) -> None:
    target = world.target(URL)
    due = world.come_due(target)
    world.held["acme"] = world.clock()
    assert world.worker().run([due], lambda: 100.0) == {CheckDisposition.HELD: 1}
    state = world.watched(target).state
    assert (state.due_at, state.checks_total, state.skips_total) == (
        world.clock() + timedelta(seconds=15),
        0,
        0,
    )
    assert world.worker().run([due], lambda: 100.0) == {CheckDisposition.STALE: 1}
    world.held.clear()
    assert world.check(target) is CheckDisposition.CHECKED

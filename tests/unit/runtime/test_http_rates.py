"""The rate limit of a key, in every response to the key."""

from typing import Any

import pytest

from tests.metrics import lines_of
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused

NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture
def slow(api: Api) -> str:
    """Provide a key with a limit of three requests a minute."""
    return api.key(rate_limit_rpm=3)


def rate(answer: Answer) -> list[str | None]:
    return [answer.headers.get(name) for name in NAMES]


def test_every_answer_to_a_known_caller_tells_its_rate(api: Api, slow: str) -> None:
    answers = [
        api.send(QUERY, slow),
        api.send(SUBMIT, slow, body="{"),
        api.send(SUBMIT, slow, httpMethod="PATCH"),
        api.send(QUERY, slow),
    ]
    assert [answer.status for answer in answers] == [200, 422, 405, 429]
    assert [rate(answer) for answer in answers] == [
        ["3", "2", "60"],
        ["3", "1", "61"],
        ["3", "0", "61"],
        ["3", "0", "61"],
    ]


def test_forbidden_and_failing_requests_tell_it_too(api: Api, key: str) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError

    api.services.crawl.get = fail
    assert_refused(api.send(GET, key), 500, "INTERNAL_ERROR")
    assert rate(api.send(GET, key)) == ["6000", "5998", "61"]
    forbidden = api.send(HEALTH, key, path="/api/v1/api-keys")
    assert_refused(forbidden, 403, "FORBIDDEN")
    assert rate(forbidden) == ["6000", "5997", "61"]


def test_who_asks_too_often_is_told_when_to_come_again(api: Api, slow: str) -> None:
    for seconds in (20.5, 5, 5):
        api.crawls.clock.advance(seconds)
        assert api.send(QUERY, slow).status == 200
    answer = api.send(SUBMIT, slow)
    body = assert_refused(answer, 429, "RATE_LIMITED")
    assert body["details"] == {}
    assert answer.headers["Retry-After"] == answer.headers["RateLimit-Reset"] == "50"
    assert api.crawls.queue.sent == []
    api.crawls.clock.advance(50)
    assert api.send(SUBMIT, slow).status == 202


def test_keys_of_one_tenant_have_rates_of_their_own(api: Api, slow: str, key: str) -> None:
    while api.send(QUERY, slow).status == 200:
        continue
    assert api.send(QUERY, key).status == 200


@pytest.mark.parametrize("headers", [{}, {"X-Api-Key": "spn_unknown"}])
def test_who_is_not_known_is_told_no_rate(api: Api, headers: dict[str, str]) -> None:
    answer = api.send(QUERY, None, headers=headers)
    assert answer.status == 401
    assert rate(answer) == [None] * 3


def test_open_routes_are_not_counted(api: Api, slow: str) -> None:
    for _ in range(5):
        answer = api.send(HEALTH, slow)
        assert (answer.status, rate(answer)) == (200, [None] * 3)
    assert api.send(QUERY, slow).headers["RateLimit-Remaining"] == "2"


def test_requests_pass_uncounted_while_counting_fails(
    api: Api, slow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.windows.available = False
    for _ in range(5):
        answer = api.send(QUERY, slow)
        assert (answer.status, rate(answer)) == (200, [None] * 3)
    logged = lines_of(capsys.readouterr().out)
    skipped = [line for line in logged if line["message"] == "rate_limit_skipped"]
    assert len(skipped) == 5
    assert skipped[0]["level"] == "WARNING"
    assert skipped[0]["tenant"] == "acme"


def test_a_flood_that_can_not_be_counted_is_refused_for_a_second(api: Api, slow: str) -> None:
    api.windows.flooded = True
    answer = api.send(SUBMIT, slow)
    assert_refused(answer, 429, "RATE_LIMITED")
    assert answer.headers["Retry-After"] == "1"
    assert rate(answer) == ["3", "0", "1"]
    assert api.crawls.queue.sent == []


def test_a_refused_request_is_logged_with_its_tenant(
    api: Api, slow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    while api.send(QUERY, slow).status == 200:
        continue
    last = lines_of(capsys.readouterr().out)[-1]
    assert (last["message"], last["status"], last["tenant"]) == ("request_done", 429, "acme")

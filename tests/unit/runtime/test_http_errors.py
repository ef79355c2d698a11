"""Errors of services have one format and reveal no internals."""

import json
from typing import Any

import pytest

from core.health_routes import routes as health_routes
from spinneret.kernel import errors
from spinneret.kernel.errors import DomainError, EmbeddingRefused, HttpUnavailable, TransientError
from spinneret.kernel.settings import SettingsError
from spinneret.runtime.http import entrypoint
from tests.metrics import lines_of
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Api, Invocation, changed, load
from tests.unit.runtime.refusals import assert_refused


def concrete_errors() -> list[type[DomainError]]:
    return [
        each
        for each in vars(errors).values()
        if isinstance(each, type)
        and issubclass(each, DomainError)
        and each not in {DomainError, TransientError, errors.PermanentError}
    ]


# covers P-15
@pytest.mark.parametrize("kind", concrete_errors())
def test_every_error_has_its_code_and_status(api: Api, key: str, kind: type[DomainError]) -> None:
    def fail(*_: Any) -> Any:
        raise kind("why")

    api.services.crawl.get = fail
    api.as_documented = False
    assert_refused(api.send(GET, key), kind.status, kind.code)


@pytest.mark.parametrize(("wish", "told"), [(7.4, "8"), (7.0, "7"), (0.2, "1"), (0.0, "1")])
def test_a_wish_to_wait_is_passed_on_in_whole_seconds(
    api: Api, key: str, wish: float, told: str
) -> None:
    def fail(*_: Any) -> Any:
        raise HttpUnavailable("busy", retry_after=wish)

    api.services.crawl.get = fail
    api.as_documented = False
    answer = api.send(GET, key)
    assert_refused(answer, 502, "HTTP_ERROR")
    assert answer.headers["Retry-After"] == told


# covers P-15
@pytest.mark.parametrize(
    "error", [ValueError("password=hunter2"), KeyError("hunter2"), RecursionError("hunter2")]
)
def test_an_unexpected_error_shows_nothing_of_the_inside(
    api: Api, key: str, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    api.services.crawl.get = fail
    body = assert_refused(api.send(GET, key), 500, "INTERNAL_ERROR")
    assert (body["error"], body["details"]) == ("internal error", {})
    logged = lines_of(capsys.readouterr().out)
    [failure] = [line for line in logged if line["message"] == "request_failed"]
    assert failure["request_id"] == body["request_id"]
    assert type(error).__name__ in failure["exception"]


def test_a_search_whose_embedder_answers_no_vector_goes_by_words_and_says_so(
    api: Api, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise EmbeddingRefused("a vector isn't finite")

    monkeypatch.setattr(api.crawls.embedder, "embed", refuse)
    answer = api.send(QUERY, key)
    assert (answer.status, answer.body["degraded"]) == (200, True)


def test_who_has_to_say_who_they_are_is_told_how(api: Api, key: str) -> None:
    # RFC 9110, section 15.5.2
    assert api.send(GET, "spn_unknown").headers["WWW-Authenticate"] == "Bearer"
    assert "WWW-Authenticate" not in api.send(GET, key).headers


def test_a_function_without_its_settings_answers_and_logs_until_it_has_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Ready:
        keys: Any = None
        uploads: Any = None
        origins: frozenset[str] = frozenset()

    def build(_: Any) -> Ready:
        if not settings:
            raise SettingsError("environment variable JOBS_TABLE is not set")
        return Ready()

    settings: list[str] = []
    handler = entrypoint.Api("core-api", health_routes, make=build).handler

    def ask() -> dict[str, Any]:
        return handler(changed(load(HEALTH), None), Invocation())  # type: ignore[arg-type]  # stands for LambdaContext

    for _ in range(2):
        refused = ask()
        body = json.loads(refused["body"])
        assert (refused["statusCode"], body["code"]) == (500, "INTERNAL_ERROR")
        assert "JOBS_TABLE" not in refused["body"]
    logged = lines_of(capsys.readouterr().out)
    failures = [line for line in logged if line["message"] == "request_failed"]
    assert len(failures) == 2
    assert "JOBS_TABLE" in failures[0]["exception"]
    settings.append("there")
    assert ask()["statusCode"] == 200


# covers P-12
def test_a_request_is_logged_without_its_credential(
    api: Api, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.send(SUBMIT, key, headers={"Authorization": f"Bearer {key}"})
    out = capsys.readouterr().out
    logged = lines_of(out)
    assert [line["message"] for line in logged] == ["request_received", "request_done"]
    done = logged[-1]
    assert (done["method"], done["path"], done["status"]) == ("POST", "/api/v1/crawl", 202)
    assert (done["tenant"], done["client_ip"]) == ("acme", "203.0.113.7")
    assert key not in out

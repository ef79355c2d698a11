"""`key`: its requirements before it issues a key; the end-to-end tests prove that it issues one."""

import argparse
from pathlib import Path

import pytest

from spinneret.access.keys.models import Scope
from stack import cli, key


@pytest.fixture(autouse=True)
def _local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPINNERET_LOCAL", str(tmp_path))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the test runner keeps its own handlers


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    key.configure(parser)
    return parser.parse_args(words)


def test_a_tenant_s_first_key_is_an_administrator_s_with_the_api_s_rate() -> None:
    arguments = parsed("acme")
    assert (arguments.tenant, arguments.scope) == ("acme", Scope.ADMIN)
    assert arguments.requests_per_minute is None
    assert key.default_rate({}) == 60
    assert key.default_rate({"RateLimitApiRpm": "120"}) == 120


def test_scope_and_rate_may_be_chosen() -> None:
    arguments = parsed("acme", "--scope", "read", "--requests-per-minute", "6000")
    assert (arguments.scope, arguments.requests_per_minute) == (Scope.READ, 6000)


@pytest.mark.parametrize(
    "words", [["--requests-per-minute", rate] for rate in ("0", "6001", "-1", "1.5", "many")]
)
def test_a_rate_out_of_bounds_is_a_usage_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leave:
        parsed("acme", *words)
    assert leave.value.code == 2
    assert "--requests-per-minute" in capsys.readouterr().err


def test_without_a_deployment_there_is_nothing_to_issue_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["key", "acme"]) == 1
    assert "nothing is deployed" in capsys.readouterr().err

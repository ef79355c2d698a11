"""`demo`: refusals before it starts anything, and its final output."""

from pathlib import Path

import pytest

from stack import cli
from stack.demo import CLIENT, farewell, show_client

JSON = '-H "X-API-Key: $KEY" -H "Content-Type: application/json"'


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://nowhere.invalid/page", "the name nowhere.invalid can't be resolved"),
        (f"https://{'a' * 64}.org/", "can't be resolved"),
        ("nowhere", "names no host"),
    ],
)
def test_a_host_that_does_not_exist_is_said_before_anything_is_installed(
    url: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    socket_enabled: None,
) -> None:
    monkeypatch.setenv("SPINNERET_LOCAL", str(tmp_path))
    monkeypatch.setenv("SPINNERET_GATEWAY_PORT", "8085")  # in use: a start would fail at once
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the test runner keeps its own handlers
    assert cli.main(["demo", "--url", url]) == 1
    assert reason in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_its_farewell_says_what_to_try_next(capsys: pytest.CaptureFixture[str]) -> None:
    page = "http://127.0.0.1:8484/ballooning"
    farewell("http://127.0.0.1:4566/api", "sk_secret", page, "job_7")
    shown = capsys.readouterr().out
    for part in (
        "export API=http://127.0.0.1:4566/api KEY=sk_secret",
        "$API/api/v1/jobs/job_7/timeline",
        f"""$API/api/v1/crawl {JSON} -d '{{"url": "{page}", "wait": 25}}'""",
        "http://127.0.0.1:4566/api/docs",
        "make demo URL=https://…",
    ):
        assert part in shown


def test_it_shows_four_commands_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_client(Path("/instance/client"), "http://127.0.0.1:8484/ballooning", "job_7")
    shown = capsys.readouterr().out
    assert "export SPINNERET_CONFIG_HOME=/instance/client" in shown
    commands = [line.split(maxsplit=2) for line in shown.splitlines() if str(CLIENT) in line]
    assert [each[1] for each in commands] == ["crawl", "search", "check", "jobs"]

"""The command line's output, and helpers of its commands."""

import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stack import cli
from stack.errors import StackError
from stack.files import last_lines, write_json
from stack.locks import exclusive
from stack.status import Row, table


@pytest.fixture(autouse=True)
def _local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPINNERET_LOCAL", str(tmp_path))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the test runner keeps its own handlers


SWEEP = "events/core/sweep.json"


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(
    command: cli.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leave:
        cli.main([command.name, "--help"])
    assert leave.value.code == 0
    assert "--instance" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["dance"], ["up", "--dance"]])
def test_an_unknown_request_is_a_usage_error(words: list[str]) -> None:
    with pytest.raises(SystemExit) as leave:
        cli.main(words)
    assert leave.value.code == 2


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["up", "--instance", "../x"], 2, "not an instance's name"),
        (["up", "kafka"], 2, "no part 'kafka'"),
        (["logs"], 2, "no such log"),
        (["status"], 1, "does not run"),
        (["doctor"], 2, "isn't running: run `make up`"),
        (["down"], 0, "does not run"),
        (["clean"], 0, "does not run"),
        (["key"], 2, "make key TENANT=acme"),
        (["user", "acme"], 2, "make user TENANT=acme EMAIL="),
        (["tenant", "create"], 2, 'make tenant DO="create acme"'),
        (["invoke"], 2, "make invoke F=Sweeper E=events/core/sweep.json"),
        (["sam-local"], 2, "make sam-local F=Sweeper E=events/core/sweep.json"),
        (["invoke", "Sweper", SWEEP], 2, "no function Sweper: did you mean Sweeper?"),
        (["logs", "--function", "crawlapi"], 2, "did you mean CrawlApi?"),
        (["invoke", "Sweeper", "events/core/swep.json"], 2, f"did you mean {SWEEP}?"),
        (["invoke", "Sweeper", SWEEP], 1, "run `make deploy`"),
    ],
)
def test_a_command_that_has_nothing_to_work_on_says_so(
    words: list[str], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == code
    shown = capsys.readouterr()
    assert text in shown.out + shown.err


def test_a_reader_that_leaves_ends_the_command_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        assert cli.main(["status"]) == 141
        stdout.flush()  # the interpreter does this at its end


@pytest.mark.parametrize("words", [["invoke"], ["invoke", "Sweeper"], ["invoke", "Zebra", SWEEP]])
def test_an_incomplete_invocation_lists_functions_with_their_events(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    shown = capsys.readouterr().err
    assert re.search(r"^  core: CoreApi, .*Sweeper", shown, re.MULTILINE)
    assert "    events/marketplace/publish.json\n" in shown


def test_an_unlike_event_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["invoke", "Sweeper", "zzz"]) == 2
    assert f"  {SWEEP}\n" in capsys.readouterr().err


def test_make_help_lists_every_documented_target_in_a_group() -> None:
    root = Path(__file__).resolve().parents[3]
    words = ["make", "--no-print-directory", "help"]
    help_ = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    listed = re.findall(r"^  ([a-z-]+) ", help_.stdout, re.MULTILINE)
    documented = re.findall(r"^([a-z-]+):.*## ", (root / "Makefile").read_text(), re.MULTILINE)
    assert listed == documented
    assert help_.stdout.startswith("\nTry it\n  demo ")


def test_without_a_container_engine_sam_local_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stack.containers.SOCKETS", (tmp_path / "docker.sock",))
    assert cli.main(["sam-local", "Sweeper", "events/core/sweep.json"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert "no container engine answers" in shown.err
    assert "make invoke" in shown.err


def test_a_taken_port_is_told_before_anything_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPINNERET_GATEWAY_PORT", "8085")
    assert cli.main(["up"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "tools").exists()


@pytest.mark.parametrize("count", [1, 3, 20])
def test_the_end_of_a_large_file_is_its_last_lines(tmp_path: Path, count: int) -> None:
    lines = [f"line {number} " + "x" * (number % 90) for number in range(10_000)]
    (tmp_path / "log").write_text("\n".join(lines))
    assert last_lines(tmp_path / "log", count) == lines[-count:]


def test_of_very_long_lines_only_whole_ones_are_shown(tmp_path: Path) -> None:
    lines = [f"{number}" * 1000 for number in range(10, 30)]
    (tmp_path / "log").write_text("\n".join(lines))
    shown = last_lines(tmp_path / "log", 12)
    assert shown == lines[-len(shown) :]


@pytest.mark.parametrize(("text", "expected"), [("", []), ("a", ["a"]), ("a\nb\n", ["a", "b"])])
def test_the_end_of_a_small_file_is_all_of_it(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    (tmp_path / "log").write_text(text)
    assert last_lines(tmp_path / "log", 5) == expected
    assert last_lines(tmp_path / "missing", 5) == []


def test_a_json_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "value.json"
    write_json(path, {"a": 1})
    with path.open() as open_before:
        write_json(path, {"a": 2})
        assert open_before.read() == '{\n  "a": 1\n}\n'
    assert [file.name for file in path.parent.iterdir()] == ["value.json"]


def test_the_second_holder_of_a_lock_waits_for_the_first(tmp_path: Path) -> None:
    lock, waiting = tmp_path / "lock", threading.Event()
    order = []

    def second() -> None:
        with exclusive(lock, on_wait=waiting.set, timeout=10):
            order.append("second")

    with ThreadPoolExecutor(1) as pool:
        with exclusive(lock, on_wait=lambda: None, timeout=10):
            run = pool.submit(second)
            assert waiting.wait(10)
            order.append("first")
        run.result(timeout=10)
    assert order == ["first", "second"]


def test_a_lock_that_is_not_given_up_ends_in_an_error(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with (
        exclusive(lock, on_wait=lambda: None, timeout=10),
        pytest.raises(StackError, match="still held"),
        exclusive(lock, on_wait=lambda: None, timeout=0.2),
    ):
        pass


def test_a_table_has_aligned_columns() -> None:
    rows = [
        Row("PART", "PID", "UP SINCE", "RSS", "URL", "HEALTHY"),
        Row("opensearch", "1", "now", "1 MB", "http://x", "yes"),
    ]
    assert table(rows) == [
        "PART        PID  UP SINCE  RSS   URL       HEALTHY",
        "opensearch  1    now       1 MB  http://x  yes",
    ]

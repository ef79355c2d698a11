"""The command on a pseudo-terminal: progress, colours, narrow windows."""

# covers L-02
import fcntl
import io
import json
import os
import re
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spinneret_client.cli.main import main, run
from spinneret_client.generated import models as m
from tests.unit.client.api import PAGE, Api, api
from tests.unit.client.conftest import Server, refusal
from tests.unit.client.samples import crawl, failure, found, hit, sample

__all__ = ["api"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3|9)[0-7]m")


class Terminal:
    """Output of a command on a pseudo-terminal."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def lines(self) -> list[str]:
        """Return all lines that were drawn, without control sequences."""
        return [line.rstrip() for line in re.split(r"[\r\n]+", ESCAPES.sub("", self.text))]


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> Iterator[Terminal]:
    """Make stdout and stderr a pseudo-terminal of the given width."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    shown, chunks = Terminal(), []

    def read() -> None:
        while True:
            try:
                chunk = os.read(master, 4096)
            except OSError:  # EIO: the other side was closed
                return
            chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(slave, "w") as stream:
        monkeypatch.setenv("COLUMNS", str(columns))  # else rich asks the process's own terminal
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setattr("sys.stderr", stream)
        yield shown
    reader.join()
    os.close(master)
    monkeypatch.undo()
    shown.text = b"".join(chunks).decode()


def test_a_terminal_shows_a_bar_with_messages_and_percent(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(monkeypatch) as shown:
        assert main(["crawl", PAGE, "--wait"]) == 0
    assert any("step 50" in line and "50%" in line for line in shown.lines)
    assert f"completed  {PAGE}" in shown.lines


@pytest.mark.parametrize(("no_color", "coloured"), [(None, True), ("", True), ("1", False)])
def test_matches_are_coloured_unless_no_color_is_set(
    api: Api, monkeypatch: pytest.MonkeyPatch, no_color: str | None, coloured: bool
) -> None:
    with terminal(monkeypatch) as shown:
        if no_color is not None:
            monkeypatch.setenv("NO_COLOR", no_color)
        assert main(["search", "silk"]) == 0
    assert bool(COLOUR.search(shown.text)) is coloured


@pytest.mark.parametrize("columns", [30, 80])
def test_lines_fit_a_narrow_terminal(
    api: Api, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    with terminal(monkeypatch, columns) as shown:
        assert main(["search", "silk"]) == 0
    assert max(map(len, shown.lines)) <= columns


def test_json_on_a_terminal_has_no_colour_and_no_bar(
    server: Server, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(monkeypatch) as shown:
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert main(["crawl", PAGE, "--wait", "--json"]) == 0
    assert "\x1b" not in "".join(line for line in shown.text.splitlines() if "{" in line)


HOSTILE = "Silk\x1b]0;owned\x07\x1b[2J\x9b31m at 10:100:20"


def _hostile(api: Api) -> None:
    """Serve a website's texts that all contain control sequences for terminals."""
    job = sample(m.JobView, job_id="job_1", subject=HOSTILE)
    api.routes["POST", "/api/v1/search"] = found(hit(title=HOSTILE, content=HOSTILE, highlights=[]))
    api.routes["GET", "/api/v1/jobs"] = {"items": [job], "next_cursor": None, "has_more": False}
    error = failure("HTTP_ERROR", HOSTILE)
    api.routes["GET", "/api/v1/crawl/job_1"] = crawl("failed", url=PAGE, error=error)
    api.routes["GET", "/api/v1/jobs/job_2"] = refusal(404, HOSTILE)


@pytest.mark.parametrize(
    "words", ["search silk", "jobs list", f"crawl {PAGE} --wait", "jobs show job_2"]
)
def test_texts_of_websites_command_no_terminal(
    api: Api, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    _hostile(api)
    with terminal(monkeypatch, 200) as shown:
        main(words.split())
    assert not re.search(r"\x1b\]|\x1b\[2J|[\x07\x9b]", shown.text)
    assert "10:100:20" in shown.text  # not shown as an emoji


def test_json_escapes_what_a_terminal_obeys(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    _hostile(api)
    assert main(["search", "silk", "--json"]) == 0
    out = capsys.readouterr().out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    assert json.loads(out)["results"][0]["title"] == HOSTILE


@pytest.mark.parametrize("form", ["--json", "--quiet"])
def test_a_stream_that_knows_few_characters_gets_the_others_escaped(
    api: Api, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    api.routes["POST", "/api/v1/search"] = found(hit(title="Sëide 😀"))
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stdout)
    monkeypatch.setattr("sys.argv", ["spinneret", "search", "silk", form])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 0
    out = stdout.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if form == "--json":
        assert json.loads(out)["results"][0]["title"] == "Sëide 😀"
    else:
        assert "S\\xebide" in out


@pytest.mark.parametrize("words", ["search silk", "jobs list", "jobs list --json"])
def test_a_reader_that_leaves_ends_the_command_in_silence(
    api: Api, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    _hostile(api)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        assert main(words.split()) == 0
        stdout.flush()  # as Python does at exit


@pytest.mark.parametrize("words", ["", "--json", "--format md"])
def test_a_gate_is_told_although_the_reader_has_left(
    api: Api, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        assert main(["audit", PAGE, "--fail-under", "90", *words.split()]) == 2
        stdout.flush()  # as Python does at exit

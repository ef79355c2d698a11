"""Where possible, function processes are forks of a zygote that has imported their libraries."""

# ruff: noqa: PLC0415  # the plug-in can be imported inside a test only

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack.lambda_probe import wait_for

# The guard's process outlives its Python object: it ends when its input closes.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

PLUGIN = Path(__file__).parents[2] / "infra/local/localstack_plugin"
FILES = {
    # Replaces the runtime: it calls the handler once and prints what it finds.
    "runtime/awslambdaric/__init__.py": "",
    "runtime/awslambdaric/bootstrap.py": """
import importlib, json, os, sys
imported = sorted(set(sys.modules) & {"calm", "busy"})
def run(root, handler, address):
    module, name = handler.rsplit(".", 1)
    told = getattr(importlib.import_module(module), name)()
    print(json.dumps({**told, "imported": imported, "own": os.environ["OWN"], "in": os.getcwd()}))
""",
    "layer/calm.py": "",
    "layer/busy.py": "from threading import Event, Thread\n"
    "Thread(target=Event().wait, daemon=True).start()",
    "code/quick.py": "import parts.tell\nfrom parts.tell import handler",
    "code/parts/tell.py": "import os\nimport calm\nran = os.getpid()\n"
    "def handler(): return {'pid': os.getpid(), 'ran': ran}",
    "code/failing.py": "import calm\ndef handler(): os._exit(3)\nimport os",
    "code/threads.py": "import busy\nfrom parts.tell import handler",
    "code/broken.py": "import nowhere\ndef handler(): return {}",
}


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Provide a function that starts a handler's process; its attribute is `zygotes`."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    from spinneret_localstack.process_executor.process_guard import ProcessGuard
    from spinneret_localstack.process_executor.runtime_process import ProcessSpec
    from spinneret_localstack.process_executor.zygote import Zygotes

    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    guard = ProcessGuard(tmp_path / "guarded")
    zygotes = Zygotes(guard, idle_seconds=1e-6)

    def begin(handler: str) -> Any:
        scratch = tmp_path / f"scratch-{handler}-{len(list(tmp_path.iterdir()))}"
        scratch.mkdir()
        spec = ProcessSpec(
            interpreter=Path(sys.executable),
            calls="",
            path=[str(tmp_path / "code"), str(tmp_path / "layer")],
            variables={
                "LANG": "en_US.UTF-8",
                "LD_LIBRARY_PATH": "",
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(tmp_path / "runtime"),
                "LAMBDA_TASK_ROOT": str(tmp_path / "code"),
                "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1",
                "_HANDLER": handler,
                "OWN": scratch.name,
            },
            folder=scratch,
            scratch=scratch,
        )
        child = zygotes.begin(spec)
        return child, spec

    begin.zygotes = zygotes  # type: ignore[attr-defined]  # tests inspect the zygotes, too
    yield begin
    for zygote in zygotes._zygotes.values():
        zygote.end()
    guard.end()


def _told(started: Any) -> dict[str, Any]:
    child, spec = started
    child.await_end()
    assert child.reap() == 0, spec.log.read_text()
    told: dict[str, Any] = json.loads(spec.log.read_text())
    assert (told["pid"], told["own"], told["in"]) == (
        child.pid,
        spec.variables["OWN"],
        str(spec.folder),
    )
    return told


def _is_forked(started: Any) -> bool:
    from spinneret_localstack.process_executor.zygote import ForkedProcess

    return isinstance(started[0], ForkedProcess)


def test_libraries_are_imported_once_and_a_function_s_own_code_by_each_process(start: Any) -> None:
    first, second = start("quick.handler"), start("quick.handler")
    assert _is_forked(first)
    assert _is_forked(second)
    for told in map(_told, (first, second)):
        assert told["imported"] == ["calm"]
        assert told["ran"] == told["pid"]
    assert len(start.zygotes._zygotes) == 1


@pytest.mark.parametrize(
    ("handler", "code", "said"), [("failing.handler", 3, ""), ("broken.handler", 1, "nowhere")]
)
def test_the_exit_code_of_a_fork_is_known(start: Any, handler: str, code: int, said: str) -> None:
    child, spec = start(handler)
    child.await_end()
    assert child.reap() == code
    assert said in spec.log.read_text()


def test_a_killed_fork_is_told_from_others(start: Any) -> None:
    child, _ = start("quick.handler")
    os.kill(child.pid, signal.SIGKILL)
    child.await_end()
    assert child.reap() in (0, -signal.SIGKILL)  # it may have ended before the signal


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_starts_without_its_zygote(
    start: Any, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spinneret_localstack.process_executor import zygote

    _told(start("quick.handler"))
    [living] = start.zygotes._zygotes.values()
    monkeypatch.setattr(zygote, "ANSWER_SECONDS", 0.5)
    os.kill(living._process.pid, how)
    alone = start("quick.handler")
    assert not _is_forked(alone)
    assert _told(alone)["imported"] == []
    monkeypatch.setattr(zygote, "ANSWER_SECONDS", 30.0)
    assert _is_forked(start("quick.handler"))


def test_a_library_with_threads_is_not_forked(start: Any) -> None:
    alone = start("threads.handler")
    assert not _is_forked(alone)
    _told(alone)


def test_a_zygote_ends_when_none_of_its_forks_lives(start: Any) -> None:
    running = start("quick.handler")
    [living] = start.zygotes._zygotes.values()
    start.zygotes.end_idle()
    assert living._process.poll() is None
    _told(running)
    start.zygotes.end_idle()
    wait_for(lambda: living._process.poll() is not None, "the zygote has ended")

"""The store of installed tools: when a tool counts as installed, and when as a different one."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from stack.instance import Instance, Record, Running, machine_boot
from stack.ports import Ports
from stack.process import ProcessId, identify
from stack.progress import Progress
from stack.tools.store import Store, Tool, stamp
from stack.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "project", tmp_path / "local", {}, Progress())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text("one")
    (folder / "inner" / "b.txt").write_text("two")
    return folder


@pytest.fixture
def builds() -> list[Path]:
    return []


@pytest.fixture
def tool(source: Path, builds: list[Path]) -> Tool:
    def build(store: Store, folder: Path) -> None:
        (folder / "made").write_text("done")
        builds.append(folder)

    return Tool("thing", "the thing", (source,), ("3.11",), build)


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        _write("a.txt", "other"),
        _write("inner/b.txt", "other"),
        _write("new.txt", ""),
        lambda folder: (folder / "a.txt").rename(folder / "c.txt"),
        lambda folder: (folder / "a.txt").unlink(),
    ],
    ids=["content", "content further down", "new file", "renamed", "removed"],
)
def test_a_change_of_the_sources_changes_the_stamp(
    tool: Tool, source: Path, change: Callable[[Path], object]
) -> None:
    before = stamp(tool)
    change(source)
    assert stamp(tool) != before


def test_another_fact_changes_the_stamp(tool: Tool) -> None:
    assert stamp(replace(tool, facts=("3.12",))) != stamp(tool)


@pytest.mark.parametrize("name", ["__pycache__/a.pyc", "build/a.txt", "thing.egg-info/PKG-INFO"])
def test_what_tools_leave_among_the_sources_does_not_count(
    tool: Tool, source: Path, name: str
) -> None:
    before = stamp(tool)
    (source / name).parent.mkdir()
    (source / name).write_text("x")
    assert stamp(tool) == before


def test_a_tool_is_built_once(workspace: Workspace, tool: Tool, builds: list[Path]) -> None:
    first = Store(workspace).ensure(tool)
    second = Store(workspace).ensure(tool)
    assert first == second
    assert builds == [first]
    assert (workspace.tools / "thing" / "made").read_text() == "done"


def test_commands_at_the_same_time_build_a_tool_once(
    workspace: Workspace, tool: Tool, builds: list[Path]
) -> None:
    both = threading.Barrier(2)

    def ensure() -> None:
        store = Store(workspace)
        both.wait(timeout=10)
        store.ensure(tool)

    with ThreadPoolExecutor(2) as pool:
        for run in [pool.submit(ensure) for _ in range(2)]:
            run.result()
    assert len(builds) == 1


def test_an_interrupted_build_is_no_installed_tool_and_starts_from_nothing(
    workspace: Workspace, tool: Tool
) -> None:
    def interrupted(store: Store, folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(workspace).ensure(replace(tool, build=interrupted))
    store = Store(workspace)
    assert not store.is_installed(tool)
    folder = store.ensure(tool)
    assert (folder / "made").exists()
    assert not (folder / "half").exists()


def test_sources_that_change_during_a_command_do_not_move_the_tool(
    workspace: Workspace, tool: Tool, source: Path
) -> None:
    store = Store(workspace)
    before = store.ensure(tool)
    (source / "a.txt").write_text("other")
    assert store.path(tool) == before
    assert Store(workspace).path(tool) != before


def _run_with(workspace: Workspace, folder: Path, process: ProcessId) -> None:
    running = Running(process, (str(folder),))
    record = Record(machine_boot(), Ports(), {"part": running})
    Instance.named("other", workspace).write(record)


@pytest.mark.parametrize("in_use", [True, False])
def test_a_former_version_stays_as_long_as_an_instance_runs_with_it(
    workspace: Workspace, tool: Tool, source: Path, own: ProcessId, in_use: bool
) -> None:
    former = Store(workspace).ensure(tool)
    gone = ProcessId(own.pid, own.started + 1)
    _run_with(workspace, former, own if in_use else gone)
    (source / "a.txt").write_text("other")
    current = Store(workspace).ensure(tool)
    assert former.exists() == in_use
    assert (workspace.tools / "thing").resolve() == current


@pytest.fixture
def own() -> ProcessId:
    process = identify(threading.main_thread().native_id or 0)
    assert process is not None
    return process

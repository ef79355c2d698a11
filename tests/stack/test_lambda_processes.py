"""The parts of the Lambda executor that need no LocalStack."""

# ruff: noqa: PLC0415  # the plug-in can be imported inside a test only

import base64
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.stack.lambda_probe import wait_for

PLUGIN = Path(__file__).parents[2] / "infra/local/localstack_plugin"


@pytest.fixture(autouse=True)
def _plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PLUGIN))


# The bounded pool


@pytest.fixture
def ended() -> list[str]:
    return []


@pytest.fixture
def pool(ended: list[str]) -> Any:
    from spinneret_localstack.process_executor.warm_pool import WarmPool

    return WarmPool(limit=2, end=ended.append, max_idle=2, idle_seconds=60)


def _use(pool: Any, kind: str) -> None:
    pool.check_out(kind, timeout=0)
    pool.check_in(kind, f"process of {kind}")


def test_a_kind_gets_its_idle_member_again(pool: Any) -> None:
    _use(pool, "a")
    assert pool.check_out("a", timeout=0) == "process of a"


def test_the_member_idle_for_longest_gives_up_its_place(pool: Any, ended: list[str]) -> None:
    for owner in ("a", "b", "a", "c"):
        _use(pool, owner)
    assert ended == ["process of b"]


def test_a_member_in_use_keeps_its_place(pool: Any, ended: list[str]) -> None:
    pool.check_out("a", timeout=0)
    _use(pool, "b")
    _use(pool, "c")
    assert ended == ["process of b"]


def test_a_waiting_caller_gets_the_next_member_of_its_kind(pool: Any) -> None:
    pool.check_out("a", timeout=0)
    pool.check_out("a", timeout=0)
    with ThreadPoolExecutor(1) as callers:
        waiting = callers.submit(pool.check_out, "a", timeout=10)
        pool.check_in("a", "process of a")
        assert waiting.result(timeout=10) == "process of a"


def test_an_idle_member_is_kept_for_its_kind_for_a_moment(ended: list[str]) -> None:
    from spinneret_localstack.process_executor.warm_pool import (
        RESERVED_SECONDS,
        PoolExhaustedError,
        WarmPool,
    )

    now = 1000.0
    pool: Any = WarmPool(limit=2, end=ended.append, max_idle=2, idle_seconds=60, clock=lambda: now)
    pool.check_out("a", timeout=0)
    _use(pool, "b")
    with pytest.raises(PoolExhaustedError):
        pool.check_out("a", timeout=0)
    now += RESERVED_SECONDS
    assert pool.check_out("a", timeout=0) is None
    assert ended == ["process of b"]


def test_a_caller_is_refused_when_all_members_stay_in_use(pool: Any) -> None:
    from spinneret_localstack.process_executor.warm_pool import PoolExhaustedError

    pool.check_out("a", timeout=0)
    pool.check_out("b", timeout=0)
    with pytest.raises(PoolExhaustedError, match="all 2 places"):
        pool.check_out("c", timeout=0.05)


@pytest.mark.parametrize("returned", ["process of a", None])
def test_a_waiting_caller_gets_the_next_place(pool: Any, returned: str | None) -> None:
    pool.check_out("a", timeout=0)
    pool.check_out("b", timeout=0)
    with ThreadPoolExecutor(1) as callers:
        waiting = callers.submit(pool.check_out, "c", timeout=10)
        pool.check_in("a", returned)
        assert waiting.result(timeout=10) is None


def test_the_bound_holds_under_many_callers(pool: Any) -> None:
    live: set[str] = set()
    most = 0
    lock = threading.Lock()

    def call(number: int) -> None:
        nonlocal most
        kind = f"{number % 5}"
        pool.check_out(kind, timeout=10)
        with lock:
            live.add(kind + str(number))
            most = max(most, len(live))
        with lock:
            live.remove(kind + str(number))
        pool.check_in(kind, None)

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(call, range(200)))
    assert 1 <= most <= 2


def test_of_too_many_idle_members_those_idle_for_longest_end_when_a_burst_is_over(
    ended: list[str],
) -> None:
    from spinneret_localstack.process_executor.warm_pool import SETTLE_SECONDS, WarmPool

    now = 1000.0
    pool: Any = WarmPool(limit=4, end=ended.append, max_idle=2, idle_seconds=60, clock=lambda: now)
    kinds = ("a", "b", "c", "d")
    for kind in kinds:
        pool.check_out(kind, timeout=0)  # up to `limit` members may be busy
    for kind in kinds:
        pool.check_in(kind, f"process of {kind}")
    now += SETTLE_SECONDS - 1
    _use(pool, "a")
    pool.end_expired()
    assert ended == []
    now += 1
    pool.end_expired()
    assert ended == ["process of b", "process of c"]


def test_members_end_when_they_were_idle_too_long(ended: list[str]) -> None:
    from spinneret_localstack.process_executor.warm_pool import WarmPool

    now = 1000.0
    pool: Any = WarmPool(limit=4, end=ended.append, max_idle=4, idle_seconds=60, clock=lambda: now)
    _use(pool, "a")
    pool.check_out("busy", timeout=0)
    for after, expected in ((59, []), (1, ["process of a"]), (60, ["process of a"])):
        now += after
        pool.end_expired()
        assert ended == expected
    pool.check_in("busy", "process of busy")  # its idle time begins now
    pool.end_expired()
    assert len(ended) == 1


# Unpacked archives


class FakeArchive:
    """An archive that writes its files where LocalStack would unpack a zip."""

    def __init__(self, scratch: Path, content: dict[str, str]) -> None:
        digest = hashlib.sha256(repr(content).encode()).digest()
        self.code_sha256 = base64.b64encode(digest).decode()
        self.unpacked = 0
        self._content = content
        self._location = scratch / f"{id(self)}"

    def prepare_for_execution(self) -> None:
        self.unpacked += 1
        for name, text in self._content.items():
            path = self._location / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def get_unzipped_code_location(self) -> Path:
        return self._location

    def destroy_cached(self) -> None:
        """Delete nothing: the cache has moved the folder."""


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    from spinneret_localstack.process_executor.archive_cache import ArchiveCache

    return ArchiveCache(tmp_path / "cache", lambda folder: None)


def test_the_same_content_is_unpacked_once_by_simultaneous_callers(
    cache: Any, tmp_path: Path
) -> None:
    code = [FakeArchive(tmp_path, {"a.py": "1"}) for _ in range(8)]
    layer = FakeArchive(tmp_path, {"python/b.py": "2"})
    with ThreadPoolExecutor(8) as callers:
        folders = list(callers.map(lambda archive: cache.prepare(archive, [layer]), code))
    assert sum(archive.unpacked for archive in code) == 1
    assert layer.unpacked == 1
    assert len({(each.task_root, each.opt) for each in folders}) == 1


def test_layers_are_merged_in_their_order_and_left_as_they_were(cache: Any, tmp_path: Path) -> None:
    code = FakeArchive(tmp_path, {"a.py": ""})
    first = FakeArchive(tmp_path, {"python/b.py": "first", "python/c.py": "first"})
    second = FakeArchive(tmp_path, {"python/b.py": "second"})
    both = cache.prepare(code, [first, second])
    reverse = cache.prepare(code, [second, first])
    only_first = cache.prepare(code, [first])
    texts = [(each.opt / "python/b.py").read_text() for each in (both, reverse, only_first)]
    assert texts == ["second", "first", "first"]
    assert (both.opt / "python/c.py").read_text() == "first"
    assert (first.unpacked, second.unpacked) == (1, 1)


def test_a_folder_outlives_localstack_and_is_removed_at_a_start_days_later(
    cache: Any, tmp_path: Path
) -> None:
    from spinneret_localstack.process_executor.archive_cache import KEPT_SECONDS, ArchiveCache

    used, unused = (FakeArchive(tmp_path, {"a.py": text}) for text in ("used", "unused"))
    layers = [FakeArchive(tmp_path, {f"python/{name}.py": ""}) for name in "bc"]
    cache.prepare(used, layers)
    old = cache.prepare(unused, [])
    past = time.time() - KEPT_SECONDS - 1
    os.utime(old.task_root, (past, past))
    (tmp_path / "cache" / "unfinished-1").mkdir()
    restarted = ArchiveCache(tmp_path / "cache", lambda folder: None)
    assert restarted.prepare(used, layers).task_root.exists()
    assert (used.unpacked, [each.unpacked for each in layers]) == (1, [1, 1])
    assert not old.task_root.exists()
    assert not (tmp_path / "cache" / "unfinished-1").exists()


def test_a_failed_unpacking_leaves_nothing_and_is_tried_again(cache: Any, tmp_path: Path) -> None:
    code, layer = FakeArchive(tmp_path, {"a.py": ""}), FakeArchive(tmp_path, {"python/b.py": ""})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer, "prepare_for_execution", _fail)
        with pytest.raises(OSError, match="disk"):
            cache.prepare(code, [layer])
    left = {path.name.partition("-")[0] for path in (tmp_path / "cache").iterdir()}
    assert left == {"no", "code"}
    assert (cache.prepare(code, [layer]).opt / "python/b.py").exists()


def test_only_changed_files_of_a_new_version_are_compiled(tmp_path: Path) -> None:
    from spinneret_localstack.process_executor.archive_cache import ArchiveCache
    from spinneret_localstack.process_executor.compilation import compile_missing

    executable = Path(sys.executable)
    cache = ArchiveCache(tmp_path / "cache", lambda folder: compile_missing(executable, folder))
    code = FakeArchive(tmp_path, {"f.py": "import a"})
    old, new, broken = (
        FakeArchive(tmp_path, {"python/a.py": text, "python/same.py": "same = 1"})
        for text in ("a = 1", "a = 2", "a = ")
    )

    def compiled(layer: FakeArchive, name: str) -> Path:
        folder = cache.prepare(code, [layer]).opt / "python" / "__pycache__"
        return folder / f"{name}.{sys.implementation.cache_tag}.pyc"

    first, second = compiled(old, "same"), compiled(new, "same")
    assert first.samefile(second)
    assert not compiled(old, "a").samefile(compiled(new, "a"))
    assert not compiled(broken, "a").exists()
    command = [executable, "-B", "-c", "import a, same; print(a.a, same.same)"]
    paths = [str(path.parents[1]) for path in (first, second)]
    said = [
        subprocess.run(
            command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
        ).stdout
        for path in paths
    ]
    assert said == ["1 1\n", "2 1\n"]


def _fail() -> None:
    raise OSError("disk is full")


# End of LocalStack

_PARENT = """
import subprocess, sys, time
from pathlib import Path
from spinneret_localstack.process_executor.process_guard import ProcessGuard
guard = ProcessGuard(Path(sys.argv[1]))
def start():
    shell = ["sh", "-c", "sleep 60 & echo $!; wait"]
    process = subprocess.Popen(shell, stdout=subprocess.PIPE, text=True, start_new_session=True)
    guard.add(process.pid)
    return process, int(process.stdout.readline())
kept, child_of_kept = start()
released, child_of_released = start()
guard.remove(released.pid)
print(kept.pid, child_of_kept, released.pid, child_of_released, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_guard_ends_registered_groups_when_its_parent_dies(
    tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(folder)],
        env={"PYTHONPATH": str(PLUGIN), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        kept, its_child, released, other_child = map(int, parent.stdout.readline().split())
        assert all(map(_runs, (kept, its_child, released, other_child)))
        parent.send_signal(how)
    try:
        wait_for(lambda: not any(map(_runs, (kept, its_child))), "the group has ended")
        wait_for(lambda: not folder.exists(), "the folder is removed")
        assert all(map(_runs, (released, other_child)))
    finally:
        os.killpg(released, signal.SIGKILL)


_ENDING = """
import subprocess, sys
from pathlib import Path
from spinneret_localstack.process_executor.process_guard import ProcessGuard
guard = ProcessGuard(Path(sys.argv[1]))
process = subprocess.Popen(["sleep", "60"], start_new_session=True)
guard.add(process.pid)
guard.end()
print(process.wait(10))
"""


def test_the_guard_ends_registered_groups_when_it_is_asked(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ENDING, str(tmp_path / "work")],
        env={"PYTHONPATH": str(PLUGIN), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert int(done.stdout) == -signal.SIGKILL


def _runs(pid: int) -> bool:
    """Return whether the process runs; a zombie doesn't, as containers may not reap orphans."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


# Settings

GIVEN = {"SPINNERET_LAMBDA_PYTHON": sys.executable, "SPINNERET_LAMBDA_ARCHIVES": "/archives"}


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"SPINNERET_LAMBDA_PYTHON": ""}, "SPINNERET_LAMBDA_PYTHON"),
        ({"SPINNERET_LAMBDA_PYTHON": "/no/python"}, "SPINNERET_LAMBDA_PYTHON"),
        ({"SPINNERET_LAMBDA_ARCHIVES": ""}, "SPINNERET_LAMBDA_ARCHIVES"),
        ({"SPINNERET_LAMBDA_MAX_ENVIRONMENTS": "0"}, "SPINNERET_LAMBDA_MAX_ENVIRONMENTS"),
        ({"SPINNERET_LAMBDA_MAX_IDLE": "many"}, "SPINNERET_LAMBDA_MAX_IDLE"),
        ({"SPINNERET_LAMBDA_IDLE_SECONDS": "0"}, "SPINNERET_LAMBDA_IDLE_SECONDS"),
        ({"SPINNERET_LAMBDA_PARALLEL_INITS": "two"}, "SPINNERET_LAMBDA_PARALLEL_INITS"),
    ],
)
def test_a_wrong_setting_is_named(variables: dict[str, str], named: str) -> None:
    from spinneret_localstack.settings import Settings, SettingsError

    with pytest.raises(SettingsError, match=named):
        Settings.from_env(GIVEN | variables)


def test_the_environments_are_bounded_without_any_setting() -> None:
    from spinneret_localstack.settings import Settings

    settings = Settings.from_env(GIVEN)
    assert (settings.max_environments, settings.max_idle, settings.idle_seconds) == (32, 12, 60)
    assert settings.parallel_inits == 2 * (os.cpu_count() or 1)

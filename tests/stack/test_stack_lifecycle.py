"""The local stack's commands: start it, repair it, run two instances, remove it without a trace.

The tests of this file run in order, on two separate instances, which share the installed tools with
all other instances.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from stack import aws
from stack.instance import Instance, Record
from stack.parts.aws_probe import archive
from stack.process import is_alive
from stack.workspace import Workspace
from tests.waiting import waited

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
COMMAND_SECONDS = 200
PORT_VARIABLES = {
    "SPINNERET_GATEWAY_PORT",
    "SPINNERET_OPENSEARCH_PORT",
    "SPINNERET_EMBEDDER_PORT",
    "SPINNERET_WEBSOCKET_PORT",
    "SPINNERET_SITE_PORT",
    "SPINNERET_MARKETS_PORT",
}


@dataclass(frozen=True)
class Stack:
    """One instance, which tests control only by the command line."""

    name: str

    def run(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        inherited = {key: value for key, value in os.environ.items() if key not in PORT_VARIABLES}
        return subprocess.run(
            [sys.executable, "-m", "stack", *words, "--instance", self.name],
            cwd=ROOT,
            env={**inherited, "PYTHONPATH": "infra/local:layers/common", **environ},
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def ok(self, *words: str, **environ: str) -> str:
        result = self.run(*words, **environ)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    @property
    def instance(self) -> Instance:
        return Instance.named(self.name, Workspace.from_environment(os.environ))

    @property
    def record(self) -> Record:
        record = self.instance.read()
        assert record is not None
        return record

    @property
    def endpoints(self) -> dict[str, str]:
        endpoints: dict[str, str] = json.loads(self.instance.endpoints_file.read_text())
        return endpoints

    def traces(self) -> list[int]:
        """Return the processes that name the instance's folder in environment or command line.

        This doesn't use the stack's own search.
        """
        folder = str(self.instance.folder).encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                try:
                    known = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                except (FileNotFoundError, PermissionError, ProcessLookupError):
                    continue
                if folder + b":" in known or folder + b"/" in known:
                    found.append(int(entry.name))
        return found


def _instance(name: str) -> Iterator[Stack]:
    stack = Stack(name)
    stack.ok("clean")
    yield stack
    stack.ok("clean")
    assert stack.traces() == []


@pytest.fixture(scope="module")
def full() -> Iterator[Stack]:
    """Provide an instance with all parts."""
    for stack in _instance("lifecycle-full"):
        stack.ok("up", "--free-ports")
        yield stack


@pytest.fixture(scope="module")
def small() -> Iterator[Stack]:
    """Provide an instance with only the embedder, which starts fast."""
    for stack in _instance("lifecycle-small"):
        stack.ok("up", "embedder", "--free-ports")
        yield stack


def test_the_endpoints_lead_to_what_runs(full: Stack) -> None:
    endpoints = full.endpoints
    for name in ("gateway", "opensearch", "embedder", "websocket", "website"):
        assert urlsplit(endpoints[name]).hostname == "127.0.0.1"
    assert httpx.get(endpoints["embedder"] + "/health", timeout=10).status_code == 200
    for name in ("localstack_python", "runtime_python", "sam"):
        assert os.access(endpoints[name], os.X_OK)
    assert (Path(endpoints["weights"]) / "model.safetensors").is_file()
    assert Path(endpoints["model"]).is_dir()


def test_no_part_listens_beyond_loopback(full: Stack) -> None:
    listeners = subprocess.run(
        ["ss", "--tcp", "--udp", "--listening", "--numeric", "--processes", "--no-header"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout.splitlines()
    pids = full.traces()
    own = [line for line in listeners if any(f"pid={pid}," in line for pid in pids)]
    assert len(own) >= 5  # OpenSearch twice, LocalStack, DynamoDB, the embedder, the gateway
    assert [line for line in own if "127.0.0.1" not in line.split()[4]] == []


def test_up_again_changes_nothing(full: Stack) -> None:
    before = full.record
    output = full.ok("up")
    assert full.record == before
    assert "starting" not in output
    assert "installing" not in output


def test_a_named_port_that_the_running_instance_does_not_have_is_refused(full: Stack) -> None:
    result = full.run("up", SPINNERET_GATEWAY_PORT="1")
    assert result.returncode == 2
    assert "SPINNERET_GATEWAY_PORT=1" in result.stderr


def test_a_taken_port_is_refused_before_anything_starts(full: Stack, small: Stack) -> None:
    small.ok("down")
    taken = str(full.record.ports.embedder)
    result = small.run("up", "embedder", "--free-ports", SPINNERET_EMBEDDER_PORT=taken)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert taken in result.stderr
    assert "SPINNERET_EMBEDDER_PORT" in result.stderr
    assert small.traces() == []


def test_status_shows_every_part_as_healthy(full: Stack) -> None:
    lines = full.ok("status").splitlines()
    for part in ("opensearch", "localstack", "embedder", "websocket", "website"):
        (line,) = (line for line in lines if line.startswith(part))
        assert line.endswith("yes")
        assert str(full.record.parts[part].process.pid) in line


def test_instances_live_side_by_side(full: Stack, small: Stack) -> None:
    small.ok("up", "embedder", "--free-ports")
    assert small.endpoints["embedder"] != full.endpoints["embedder"]
    before = full.record
    small.ok("down")
    assert small.traces() == []
    assert not small.instance.endpoints_file.exists()
    assert set(before.alive()) == {"opensearch", "localstack", "embedder", "websocket", "website"}
    assert httpx.get(full.endpoints["embedder"] + "/health", timeout=10).status_code == 200


def test_a_killed_part_is_started_again_alone(full: Stack) -> None:
    before = full.record
    index = f"{full.endpoints['opensearch']}/kept"
    httpx.put(index, timeout=30).raise_for_status()
    victim = before.parts["localstack"].process
    orphans = [p for p in full.instance.processes("localstack") if p != victim]
    assert orphans, "LocalStack has started DynamoDB"
    os.kill(victim.pid, signal.SIGKILL)
    waited(lambda: not is_alive(victim), seconds=30)

    assert full.run("status").returncode == 1
    output = full.ok("up")

    after = full.record
    assert "LocalStack had died" in output
    assert after.parts["localstack"] != before.parts["localstack"]
    assert not any(is_alive(orphan) for orphan in orphans)
    for part in ("opensearch", "embedder"):
        assert after.parts[part] == before.parts[part]
    assert httpx.head(index, timeout=30).status_code == 200


def test_down_leaves_no_process_and_harms_no_other(full: Stack) -> None:
    marked = {"SPINNERET_STACK_PART": f"{full.instance.folder}-2:localstack"}
    bystander = subprocess.Popen(["sleep", "60"], cwd=full.instance.folder, env=marked)
    try:
        _function_that_is_busy(full)
        full.ok("down")
        assert full.traces() == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def _function_that_is_busy(full: Stack) -> None:
    """Invoke a function that runs for 60 s, and wait until LocalStack starts its process."""
    functions = aws.client("lambda", full.endpoints["gateway"])
    code = "import time\ndef handle(event, context):\n    time.sleep(60)\n"
    functions.create_function(
        FunctionName="busy",
        Runtime="python3.12",
        Handler="probe.handle",
        Role="arn:aws:iam::000000000000:role/probe",
        Code={"ZipFile": archive(code)},
        Timeout=60,
    )
    functions.get_waiter("function_active_v2").wait(
        FunctionName="busy", WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )
    before = set(full.instance.processes("localstack"))
    functions.invoke(FunctionName="busy", InvocationType="Event", Payload=b"{}")
    waited(lambda: set(full.instance.processes("localstack")) - before, seconds=30)

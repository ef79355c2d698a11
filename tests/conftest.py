"""Fixtures for the running stack.

SPINNERET_TEST_INSTANCE names a running instance: `make test` starts one for several processes.
Without it, a test run starts and stops its own instance.
"""

import gc
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from zlib import crc32

import boto3
import pytest
from botocore.config import Config
from hypothesis import settings

# Folders in which every test has this mark, in addition to its own marks.
_MARKS = {"stack": pytest.mark.stack, "e2e": pytest.mark.stack, "integration": pytest.mark.heavy}
_STACK_SECONDS = 600  # the first test of a process waits for others' builds and its own deployment

# No test asserts speed: a loaded machine must not fail a test.
settings.register_profile(
    "spinneret",
    deadline=None,
    # Examples per property; make test uses more than the quick loop.
    max_examples=int(os.environ.get("SPINNERET_EXAMPLES", "10")),
)
settings.load_profile("spinneret")

ROOT = Path(__file__).resolve().parents[1]
REGION = "us-east-1"
_UP_SECONDS = 900.0  # includes the installation on a fresh machine
_DOWN_SECONDS = 60.0


# Part of the test files that a run takes, such as 1/2; all files if it isn't set. Without parts,
# each process of a run would collect all files, which takes a third of the time of the quick tests.
_PART, _PARTS = map(int, os.environ.get("SPINNERET_TEST_PART", "1/1").split("/"))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore the files of other parts."""
    if not collection_path.match("test_*.py"):
        return None
    folder, file = collection_path.parts[-2:]
    # Architecture tests share a template, whose translation takes as long as most files.
    name = folder if folder == "architecture" else f"{folder}/{file}"
    return crc32(name.encode()) % _PARTS != _PART - 1 or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of a folder, and set the time-out of tests on the stack."""
    depth = len(ROOT.parts) + 1
    for item in items:
        folder = item.path.parts[depth]
        if folder in _MARKS:
            item.add_marker(_MARKS[folder])
        if item.get_closest_marker("stack") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_STACK_SECONDS))


def pytest_collection_finish() -> None:
    """Exclude all imported and collected objects from garbage collection: they are never freed."""
    gc.freeze()
    gc.set_threshold(20_000)  # instead of 700: tests create many objects, but few cycles


_FORMATTERS: dict[logging.Handler, logging.Formatter | None] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Restore the formatters of pytest's log handlers, which a function's log setup may replace."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_FORMATTERS.setdefault(handler, handler.formatter))


@dataclass(frozen=True)
class Stack:
    """A running instance."""

    name: str
    folder: Path
    gateway_url: str
    dynamodb_url: str
    opensearch_url: str
    embedder_url: str
    websocket_url: str
    website_url: str
    localstack_python: Path
    embedder_weights: Path
    embedder_model: Path

    def command(
        self, *words: str, seconds: float = _UP_SECONDS, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the stack's command line on this instance."""
        return run_stack(*words, "--instance", self.name, seconds=seconds, **environ)


def run_stack(*words: str, seconds: float, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the stack's command line; return its output and its exit code, which isn't checked."""
    paths = (ROOT / "infra" / "local", ROOT / "layers" / "common", ROOT)
    return subprocess.run(
        [sys.executable, "-m", "stack", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ":".join(map(str, paths)), **environ},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def give_up(config: pytest.Config, reason: str, done: subprocess.CompletedProcess[str]) -> NoReturn:
    """End the whole run with the reason and a command's output, instead of failing every test."""
    # xdist hides its processes' output and the reason of their exit, but not what they write to
    # their standard error outside of pytest's capturing.
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        sys.stderr.write(f"\n{reason}:\n{done.stdout}{done.stderr}\n")
    pytest.exit(reason)


@pytest.fixture(scope="session")
def stack(pytestconfig: pytest.Config) -> Iterator[Stack]:
    """Provide an instance on which all services run."""
    if given := os.environ.get("SPINNERET_TEST_INSTANCE"):
        yield _read(given)
        return
    name = f"test-{os.getpid()}"
    done = run_stack("up", "--free-ports", "--instance", name, seconds=_UP_SECONDS)
    if done.returncode != 0:
        give_up(pytestconfig, "the stack didn't start", done)
    try:
        yield _read(name)
    finally:
        run_stack("clean", "--instance", name, seconds=_DOWN_SECONDS)


class Aws:
    """Clients of the instance's AWS services."""

    def __init__(self, gateway_url: str, dynamodb_url: str) -> None:
        """Create a session; DynamoDB clients connect to DynamoDB directly, as functions do.

        LocalStack checks the signatures of links with the secret `test`.
        """
        self._session = boto3.Session(
            aws_access_key_id="000000000000", aws_secret_access_key="test", region_name=REGION
        )
        self._gateway_url = gateway_url
        self._dynamodb_url = dynamodb_url
        self._config = Config(
            connect_timeout=2,
            read_timeout=70,
            retries={"total_max_attempts": 2},
            inject_host_prefix=False,
            s3={"addressing_style": "path"},
            max_pool_connections=60,
        )

    def __call__(self, service: str) -> Any:
        """Return a client of a service."""
        make: Any = self._session.client
        client_config = self._config
        if service == "s3":  # signs forms like the product, too
            client_config = client_config.merge(Config(signature_version="s3v4"))
        url = self._dynamodb_url if service == "dynamodb" else self._gateway_url
        return make(service, endpoint_url=url, config=client_config)

    def dynamodb(self) -> Any:
        """Return a client that takes and returns plain Python values, like the product's."""
        made = self._session.resource(
            "dynamodb", endpoint_url=self._dynamodb_url, config=self._config
        )
        return made.meta.client


@pytest.fixture(scope="session")
def aws(stack: Stack) -> Aws:
    """Provide a factory of clients: `aws("sqs")`."""
    return Aws(stack.gateway_url, stack.dynamodb_url)


def instance_folder(name: str) -> Path:
    """Return the folder of an instance of this checkout."""
    return Path(os.environ.get("SPINNERET_LOCAL") or ROOT / ".local") / "instances" / name


def _read(name: str) -> Stack:
    folder = instance_folder(name)
    endpoints = json.loads((folder / "endpoints.json").read_text())
    return Stack(
        name=name,
        folder=folder,
        gateway_url=endpoints["gateway"],
        dynamodb_url=endpoints["dynamodb"],
        opensearch_url=endpoints["opensearch"],
        embedder_url=endpoints["embedder"],
        websocket_url=endpoints["websocket"],
        website_url=endpoints["website"],
        localstack_python=Path(endpoints["localstack_python"]),
        embedder_weights=Path(endpoints["weights"]),
        embedder_model=Path(endpoints["model"]),
    )


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """Restore the process's logger, which an entry point may configure, for later tests."""
    logger = logging.getLogger("spinneret")
    before = {**vars(logger), "handlers": logger.handlers[:], "filters": logger.filters[:]}
    yield
    vars(logger).clear()
    vars(logger).update(before)

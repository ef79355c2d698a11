"""The WebSocket gateway as a separate process, in front of a scripted Lambda API."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import boto3
import httpx
from botocore.config import Config
from websockets.sync.client import ClientConnection, connect

from stack.port_claims import claim
from stack.tools.python_tools import websocket_tool
from stack.tools.store import Store
from stack.tools.venv import python
from stack.workspace import Workspace
from tests.stack.scripted_lambda import STACK, ScriptedLambda

STAGE = "local"
START_SECONDS = 20.0
STOP_SECONDS = 10.0
CLIENT_SECONDS = 10.0


@dataclass(frozen=True)
class GatewayProcess:
    """A running gateway."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def client(self, path: str = f"/{STAGE}", **options: Any) -> Iterator[ClientConnection]:
        """Provide a connected client. Raises InvalidStatus if the gateway rejects the handshake."""
        address = f"ws://127.0.0.1:{self.port}{path}"
        wanted = {"open_timeout": CLIENT_SECONDS, "close_timeout": CLIENT_SECONDS, **options}
        with connect(address, proxy=None, compression=None, **wanted) as client:
            yield client

    def management(self, stage: str = STAGE) -> Any:
        """Return boto3's client for `@connections`."""
        make: Any = boto3.client
        return make(
            "apigatewaymanagementapi",
            endpoint_url=f"{self.url}/{stage}",
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
            config=Config(read_timeout=10, retries={"total_max_attempts": 1}),
        )


@contextmanager
def running_gateway(
    functions: ScriptedLambda, log: Path, *options: str, stack: str = STACK
) -> Iterator[GatewayProcess]:
    """Start a gateway on a free port, wait until it serves, and stop it at the end."""
    with claim() as claimed, log.open("wb") as output:
        port = claimed.ports[0]
        process = started(functions, port, output, *options, stack=stack)
        try:
            gateway = GatewayProcess(process, port, log)
            _wait_until_it_serves(gateway)
            yield gateway
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            finally:
                process.kill()


def started(
    functions: ScriptedLambda, port: int, output: IO[bytes], *options: str, stack: str = STACK
) -> subprocess.Popen[bytes]:
    """Start a gateway's process without waiting until it serves."""
    workspace = Workspace.from_environment(os.environ)
    interpreter = python(Store(workspace).ensure(websocket_tool(workspace)))
    words = {
        "--port": str(port),
        "--aws-endpoint": functions.url,
        "--region": "us-east-1",
        "--stack": stack,
        "--stage": STAGE,
    }
    return subprocess.Popen(
        [interpreter, "-m", "spinneret_websocket.server", *sum(words.items(), ()), *options],
        env={
            "PYTHONPATH": str(workspace.sources / "websocket"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": os.defpath,
        },
        stdout=output,
        stderr=subprocess.STDOUT,
    )


def _wait_until_it_serves(gateway: GatewayProcess) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            httpx.get(f"{gateway.url}/healthz", trust_env=False).raise_for_status()
        except httpx.ConnectError:
            assert gateway.process.poll() is None, gateway.log.read_text()
            assert time.monotonic() < deadline, gateway.log.read_text()
            time.sleep(0.05)
        else:
            return

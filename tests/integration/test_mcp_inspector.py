"""The MCP server as seen by a third-party client: the command line of the MCP Inspector."""

# covers L-03
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stack.tools.npm import node_tool
from stack.tools.store import Store
from stack.workspace import Workspace
from tests.unit.client.samples import found, hit

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONNECT_MS = 120_000  # the Inspector starts our server, which takes seconds on a loaded machine
INSTALL_SECONDS = 400
READING = {"search", "read_document", "crawl_status", "audit_report"}
WRITING = {"crawl_page", "check_link", "crawl_site", "discover_urls", "audit_site", "screenshot"}


class _Api(BaseHTTPRequestHandler):
    """API that answers a search and rejects the empty bodies by which the server learns a key's
    scopes.
    """

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        refused = {"error": "no", "code": "VALIDATION_ERROR", "details": {}, "request_id": "r"}
        status, answer = (200, found(hit())) if body.get("query") == "silk" else (422, refused)
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Print no access log."""


@pytest.fixture
def api() -> Iterator[str]:
    """Start an API on loopback, and provide its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _inspected(api: str, method: str, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {"SPINNERET_URL": api, "SPINNERET_API_KEY": "spn_x"}
    given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    spinneret = Path(sys.executable).with_name("spinneret")
    return subprocess.run(
        [
            *(_npx(), "--yes", INSPECTOR, "--cli", "--connect-timeout", str(CONNECT_MS), *given),
            *(spinneret, "mcp", "--method", method, *words),
        ],
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )


def _npx() -> str:
    """Return the machine's npx, or else the npx of the stack's own Node."""
    if own := shutil.which("npx"):
        return own
    workspace = Workspace.from_environment(os.environ)
    return str(Store(workspace).ensure(node_tool(workspace)) / "bin" / "npx")


def test_the_inspector_lists_all_tools_with_bounded_arguments(api: str) -> None:
    done = _inspected(api, "tools/list")
    assert done.returncode == 0, done.stderr
    tools = {each["name"]: each for each in json.loads(done.stdout)["tools"]}
    assert tools.keys() == READING | WRITING
    assert all(tools[name]["annotations"]["readOnlyHint"] for name in READING)
    assert tools["search"]["inputSchema"]["properties"]["limit"]["maximum"] == 20


def test_the_inspector_calls_a_tool_and_sees_a_flagged_error(api: str) -> None:
    called = ("--tool-name", "search", "--tool-arg")
    done = _inspected(api, "tools/call", *called, "query=silk")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert not answer.get("isError")
    assert "untrusted_" in answer["content"][0]["text"]
    refused = _inspected(api, "tools/call", *called, "query=wool")
    assert refused.returncode != 0
    assert json.loads(refused.stdout)["isError"]

"""`console`: serve the console's current files, in front of a running instance.

A changed file needs only a reload of the page. All other requests go to the instance's API.
"""

import argparse
import os
import shutil
import tempfile
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from spinneret.kernel.errors import NotFound
from spinneret.runtime.console.site import ICON, PACKAGE, PAGE, ConsoleSite, read_site
from spinneret.runtime.http.static_text import StaticText
from stack.deployment import record
from stack.deployment.sources import Sources
from stack.instance import Instance
from stack.ports import HOST
from stack.tools.command import run as run_command
from stack.tools.npm import with_npm
from stack.tools.store import Store
from stack.workspace import Workspace

BUILD_SECONDS: Final = 600.0
REQUEST_SECONDS: Final = 40.0  # the longest wait for events is 25 s
DEFAULT_PORT: Final = 8490
_DROPPED: Final = {
    *("connection", "keep-alive", "transfer-encoding"),
    *("content-encoding", "content-length", "date", "server"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the port."""
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Serve until the command is interrupted."""
    instance = Instance.named(arguments.instance, workspace)
    api = record.current(instance).api_url(record.endpoints(instance)["gateway"])
    with tempfile.TemporaryDirectory(prefix="spinneret-console-") as scratch:
        folder = build(workspace, instance, Path(scratch))
        link_sources(folder, Sources(workspace.root).console / "site")
        with ThreadingHTTPServer(
            (HOST, arguments.port), partial(Pages, folder=folder, api=api)
        ) as server:
            workspace.progress.say(f"http://{HOST}:{arguments.port}/console/{PAGE}")
            server.serve_forever()
    return 0


def build(workspace: Workspace, instance: Instance, scratch: Path) -> Path:
    """Build the layer with the console's files below `scratch`; return their folder."""
    run_command(
        ["make", "build-ConsoleLayer", f"ARTIFACTS_DIR={scratch}"],
        log=instance.log("console"),
        seconds=BUILD_SECONDS,
        directory=Sources(workspace.root).console,
        environ=with_npm(Store(workspace), os.environ),
    )
    return scratch / "python" / PACKAGE


def link_sources(built: Path, sources: Path) -> None:
    """Replace built files by links to their sources; the libraries stay."""
    for source in sources.iterdir():
        target = built / source.name
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()
        target.symlink_to(source.absolute())


class Pages(BaseHTTPRequestHandler):
    """Answers requests for the console's files, and forwards all others."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: object, folder: Path, api: str) -> None:
        self._folder = folder
        self._api = api
        super().__init__(*arguments)  # type: ignore[arg-type]  # the server's own three

    def handle_any(self) -> None:
        """Answer one request."""
        path = self.path.partition("?")[0]
        if path in ("/", "/console", "/console/"):
            self._send(HTTPStatus.TEMPORARY_REDIRECT, {"Location": f"/console/{PAGE}"}, b"")
        elif path.startswith("/console/"):
            self._send_file(path.removeprefix("/console/"))
        else:
            self._forward()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - http.server's name
        """Write nothing: the browser shows its requests."""

    def _send_file(self, name: str) -> None:
        try:
            gateway = _origin(self._api)  # the emulator's buckets have it too
            served = _file(read_site(self._folder, inbox=[gateway], media=[gateway]), name)
        except NotFound:
            self._send(HTTPStatus.NOT_FOUND, {}, b"")
            return
        headers = {**served.headers, "Content-Type": served.content_type}
        self._send(HTTPStatus.OK, headers, served.text.encode())

    def _forward(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        kept = {name: value for name, value in self.headers.items() if name.lower() not in _DROPPED}
        body = self.rfile.read(length)
        try:
            answer = httpx.request(
                self.command,
                self._api + self.path,
                headers=kept,
                content=body,
                timeout=REQUEST_SECONDS,
                trust_env=False,
            )
        except httpx.HTTPError:  # the page shows that the API doesn't answer
            self._send(HTTPStatus.GATEWAY_TIMEOUT, {}, b"")
            return
        headers = {name: value for name, value in answer.headers.items() if name not in _DROPPED}
        self._send(answer.status_code, headers, answer.content)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _file(site: ConsoleSite, name: str) -> StaticText:
    """Return a file of the present version, also to a page of another version."""
    if name == PAGE:
        return site.page
    if name == ICON:
        return site.icon
    return site.part(site.version, name.partition("/")[2])

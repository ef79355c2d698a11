"""The container engine and the relays to this machine, with a fake engine."""

import json
import socket
import socketserver
import tarfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from containers import image, podman
from stack.containers import BEYOND, Engine, reachable
from stack.errors import UsageError
from stack.sam_local import _has_raised


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets: the tests open connections."""


IMAGE = "public.ecr.aws/lambda/python:3.12-x86_64"


class _Unix(socketserver.ThreadingUnixStreamServer):
    answers: dict[str, Any]

    def get_request(self) -> tuple[Any, Any]:
        """Return the request with an address, because an HTTP handler needs one."""
        request, _ = super().get_request()
        return request, ("engine", 0)


class _Handler(BaseHTTPRequestHandler):
    server: _Unix

    def do_GET(self) -> None:
        answer = self.server.answers.get(self.path)
        body = b"{}" if answer is None else json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(folder: Path, gateway: str | None) -> Iterator[Engine]:
    """Yield an engine whose container bridge has this address."""
    path = folder / "engine.sock"
    with _Unix(str(path), _Handler) as server:
        config = [] if gateway is None else [{"Gateway": gateway}]
        server.answers = {
            "/_ping": "OK",
            f"/images/{IMAGE}/json": {"Id": "1"},
            "/networks/bridge": {"IPAM": {"Config": config}},
        }
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Engine([folder / "nothing.sock", path])
        finally:
            server.shutdown()
            thread.join()


def test_an_engine_says_what_it_has(tmp_path: Path) -> None:
    with serving(tmp_path, "172.17.0.1") as engine:
        engine.require()
        assert (engine.has_image(IMAGE), engine.has_image("another")) == (True, False)
        assert engine.gateway() == "172.17.0.1"


def test_no_engine_is_one_clear_message(tmp_path: Path) -> None:
    left = tmp_path / "left.sock"
    left.write_text("no socket")
    with pytest.raises(UsageError, match=f"no container engine answers at {left} or /nowhere"):
        Engine([left, Path("/nowhere")]).require()


def test_a_container_reaches_what_listens_on_loopback(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "127.0.0.1") as engine,
        closing(socket.create_server(("127.0.0.1", 0))) as server,
    ):
        port = server.getsockname()[1]
        with reachable(engine, {port}) as translated:
            address = translated(f"http://127.0.0.1:{port}/path").split("/")[2]
            host, _, relay = address.rpartition(":")
            assert (host, relay != str(port)) == ("127.0.0.1", True)
            with socket.create_connection((host, int(relay)), timeout=5) as near:
                far, _ = server.accept()
                near.sendall(b"asked")
                assert far.recv(99) == b"asked"
                far.sendall(b"answered")
                far.close()
                with near.makefile("rb") as answer:
                    assert answer.read() == b"answered"
            assert translated("http://127.0.0.1:1/") == "http://127.0.0.1:1/"


@pytest.mark.parametrize("gateway", [None, "192.0.2.1"])
def test_without_a_bridge_here_the_engine_leads_to_this_machine(
    tmp_path: Path, gateway: str | None
) -> None:
    with serving(tmp_path, gateway) as engine, reachable(engine, {4566}) as translated:
        assert translated("http://127.0.0.1:4566/") == f"http://{BEYOND}:4566/"


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        ('{"statusCode": 200}', False),
        ("null", False),
        ("[1]", False),
        ('{"errorMessage": "no", "errorType": "KeyError"}', True),
        ("", True),
    ],
)
def test_an_answer_tells_whether_the_function_raised(answer: str, raised: bool) -> None:
    assert _has_raised(answer) is raised


def test_podman_is_not_started_where_an_engine_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    podman.require(tmp_path / "docker.sock")
    (tmp_path / "docker.sock").symlink_to("gone")
    with pytest.raises(UsageError, match=r"docker\.sock exists: use that engine"):
        podman.require(tmp_path / "docker.sock")


@pytest.mark.parametrize(
    ("user", "installed", "said"),
    [
        (1000, ("podman", "runc", "ip"), "need root"),
        (0, ("runc", "ip"), "install podman, such as"),
        (0, (), "install podman and runc and ip"),
    ],
)
def test_what_podman_misses_is_named(
    user: int,
    installed: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr("shutil.which", lambda name: name if name in installed else None)
    with pytest.raises(UsageError, match=said):
        podman.require(tmp_path / "docker.sock")


@pytest.mark.heavy
def test_the_substitute_image_starts_functions_as_the_image_of_aws_does(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    (packages / "awslambdaric").mkdir(parents=True)
    image.write_root(tmp_path / "root.tar", packages)
    with tarfile.open(tmp_path / "root.tar") as root:
        names = {member.name: member for member in root}
        bootstrap = root.extractfile("var/runtime/bootstrap")
        assert bootstrap is not None
        assert b"-m awslambdaric" in bootstrap.read()
    assert names["var/runtime/bootstrap"].mode == 0o755
    assert names["tmp"].mode == 0o1777
    assert {"bin/sh", "bin/mv", "bin/chmod", "var/lang/bin/python3.12", "var/task", "opt"} <= set(
        names
    )
    assert "var/lang/lib/python3.12/json/decoder.py" in names
    assert "var/runtime/awslambdaric" in names
    assert not [name for name in names if "/test/" in name or name.endswith("_tkinter")]

"""SAM runs only if its inputs changed; a deployment ends with warm functions."""

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stack.deployment.sam import Sam
from stack.deployment.warm import warm
from stack.errors import InstallError
from stack.instance import Instance
from stack.progress import Progress
from stack.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
SAM = """#!/bin/sh
echo "$1" >> "{calls}"
test ! -e "{fails}" || exit 1
test "$1" != build || {{ mkdir -p "{built}"; cp template.yaml "{built}"; }}
"""
TEMPLATE = """
Resources:
  Machine: {Properties: {DefinitionUri: ../statemachines/m.asl.yaml, Name: !Sub "m-${Stage}"}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with every kind of file that SAM reads."""
    for name in ("template.yaml", "functions/a.py", "layers/x/y.py", "statemachines/m.asl.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "core.yaml").write_text("{}")
    return tmp_path


@pytest.fixture
def sam(root: Path) -> Sam:
    local = root / ".local"
    instance = Instance("dev", local / "instances" / "dev")
    program = root / "sam"
    names = {"calls": root / "calls", "fails": root / "fails", "built": instance.folder / "build"}
    program.write_text(SAM.format(**names))
    program.chmod(0o755)
    (root / "calls").touch()
    workspace = Workspace(root, local, {}, Progress())
    return Sam(workspace, instance, {"sam": str(program), "gateway": "http://127.0.0.1:9"})


def calls(root: Path) -> list[str]:
    return (root / "calls").read_text().split()


def test_an_unchanged_application_is_validated_and_built_once(root: Path, sam: Sam) -> None:
    for _ in range(2):
        sam.validate()
        sam.build()
    assert calls(root) == ["validate", "build"]


def test_what_is_built_is_json(root: Path, sam: Sam) -> None:
    sam.build()
    template = json.loads((sam.built / "template.yaml").read_text())
    machine = template["Resources"]["Machine"]["Properties"]
    assert machine == {"DefinitionUri": "m.asl.json", "Name": {"Fn::Sub": "m-${Stage}"}}
    assert json.loads((sam.built / "m.asl.json").read_text()) == {}


@pytest.mark.parametrize(
    ("changed", "repeated"),
    [
        ("template.yaml", ["validate", "build"]),
        ("infra/core.yaml", ["validate", "build"]),
        ("functions/a.py", ["build"]),
        ("functions/new.py", ["build"]),
        ("layers/x/y.py", ["build"]),
        ("statemachines/m.asl.yaml", ["build"]),
        ("docs.md", []),
    ],
)
def test_a_change_repeats_what_reads_the_file(
    changed: str, repeated: list[str], root: Path, sam: Sam
) -> None:
    sam.validate()
    sam.build()
    (root / changed).write_text("{Resources: {}}")
    sam.validate()
    sam.build()
    assert calls(root)[2:] == repeated


def test_a_failed_step_is_repeated(root: Path, sam: Sam) -> None:
    (root / "fails").touch()
    for step in (sam.validate, sam.build):
        with pytest.raises(InstallError):
            step()
    (root / "fails").unlink()
    sam.validate()
    sam.build()
    assert calls(root) == ["validate", "build"] * 2


def test_a_removed_build_is_made_again(root: Path, sam: Sam) -> None:
    sam.build()
    shutil.rmtree(sam.built)
    sam.build()
    assert calls(root) == ["build", "build"]


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.heavy
def test_each_area_s_api_is_warmed_whatever_it_answers() -> None:
    asked = []

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        warm(ROOT / "template.yaml", f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()
        thread.join()
    assert {"/health", "/api/v1/crawl", "/api/v1/search", "/audits", "/v1/targets"} <= set(asked)
    warm(ROOT / "template.yaml", "http://127.0.0.1:9")  # nothing listens

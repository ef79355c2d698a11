"""SAM runs only if its inputs changed; a deployment warms the functions at its end."""

import json
import shutil
import threading
import zipfile
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
test "$1" != build || {{ rm -rf "{layers}"; mkdir -p "{layers}/XLayer/python"; }}
test "$1" != build || touch "{layers}/XLayer/python/x.py"
"""
TEMPLATE = """
Globals: {Function: {CodeUri: functions/, Timeout: 29}}
Resources:
  Core: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: infra/core.yaml}}
  CommonLayer: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: layers/common}}
  XLayer: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: layers/x}}
  Work: {Type: AWS::Serverless::Function}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties: {DefinitionUri: statemachines/m.asl.yaml, Name: !Sub "m-${Stage}"}
"""
FILES = {
    "template.yaml": TEMPLATE,
    "infra/core.yaml": "Resources: {}",
    "functions/a.py": "A = 1",
    "layers/common/spinneret/b.py": "B = 1",
    "layers/x/y.py": "Y = 1",
    "console/index.html": "<html>",
    "statemachines/m.asl.yaml": "{StartAt: A}",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Provide a repository with every kind of file that SAM reads."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def sam(root: Path) -> Sam:
    local = root / ".local"
    instance = Instance("dev", local / "instances" / "dev")
    program = root / "sam"
    layers = instance.folder / "build" / "layers"
    program.write_text(SAM.format(calls=root / "calls", fails=root / "fails", layers=layers))
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


def test_a_template_names_what_was_built(sam: Sam) -> None:
    sam.build()
    template = json.loads((sam.built / "template.yaml").read_text())
    assert template["Globals"] == {"Function": {"Timeout": 29}}
    assert {name: each.get("Properties") for name, each in template["Resources"].items()} == {
        "Core": {"TemplateURL": "infra/core.yaml"},
        "CommonLayer": {"ContentUri": "layers/CommonLayer.zip"},
        "XLayer": {"ContentUri": "layers/XLayer.zip"},
        "Work": {"CodeUri": "functions.zip"},
        "Machine": {"DefinitionUri": "m.asl.json", "Name": {"Fn::Sub": "m-${Stage}"}},
    }
    assert json.loads((sam.built / "infra" / "core.yaml").read_text()) == {"Resources": {}}
    assert json.loads((sam.built / "m.asl.json").read_text()) == {"StartAt": "A"}
    for archive, name in {
        "functions.zip": "a.py",
        "layers/CommonLayer.zip": "python/spinneret/b.py",
        "layers/XLayer.zip": "python/x.py",
    }.items():
        assert name in zipfile.ZipFile(sam.built / archive).namelist()


def test_sam_builds_the_other_layers(root: Path, sam: Sam) -> None:
    sam.build()
    asked = json.loads((root / ".local" / "instances" / "dev" / "layers.json").read_text())
    assert list(asked["Resources"]) == ["XLayer"]


def test_another_way_to_build_a_layer_builds_it_again(root: Path, sam: Sam) -> None:
    sam.build()
    way = "XLayer: {Metadata: {BuildMethod: makefile}, "
    (root / "template.yaml").write_text(TEMPLATE.replace("XLayer: {", way))
    sam.build()
    assert calls(root) == ["build", "build"]


def test_code_of_another_folder_is_refused(root: Path, sam: Sam) -> None:
    (root / "template.yaml").write_text(TEMPLATE.replace("functions/", "others/"))
    with pytest.raises(InstallError, match="Work isn't in functions/ but in others/"):
        sam.build()


@pytest.mark.parametrize(
    ("changed", "repeated"),
    [
        ("template.yaml", ["validate"]),
        ("infra/core.yaml", ["validate"]),
        ("functions/a.py", []),
        ("layers/common/spinneret/b.py", []),
        ("layers/x/y.py", ["build"]),
        ("layers/x/new.py", ["build"]),
        ("console/index.html", ["build"]),
        ("statemachines/m.asl.yaml", []),
        ("docs.md", []),
    ],
)
def test_a_change_repeats_what_reads_the_file(
    changed: str, repeated: list[str], root: Path, sam: Sam
) -> None:
    sam.validate()
    sam.build()
    (root / changed).write_text(FILES.get(changed, "") + "\n# changed")
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
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        warm(ROOT / "template.yaml", f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()
        thread.join()
    assert {"/health", "/api/v1/crawl", "/api/v1/search", "/audits", "/v1/targets"} <= set(asked)
    warm(ROOT / "template.yaml", "http://127.0.0.1:9")  # nothing listens

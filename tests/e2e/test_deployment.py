"""The promises of `make deploy` and `make invoke`."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from stack.deployment.templates import load
from tests.conftest import ROOT
from tests.e2e.conftest import Deployed, Tenant

pytestmark = pytest.mark.stack

LAMBDA_UNPACKED_BYTES = 250 * 1024 * 1024  # Lambda quotas: code and layers together
CHROMIUM = "sparticuz-chromium-153.0.0.tgz"
LEFT_OUT = {
    # By layer: a file that only the complete one has, and its bytes. The local stack has neither.
    "BrowserLayer": (
        "chromium",
        68_408_127,
    ),  # chromium.br, al2023.tar.br, fonts.tar.br of CHROMIUM
    "EmbedderLayer": ("python/spinneret_embedder", 144 * 1024 * 1024),
}


def test_deploying_the_same_again_changes_nothing(deployed: Deployed) -> None:
    done = deployed.stack.command("deploy", seconds=120, **deployed.settings)
    assert done.returncode == 0, done.stderr
    assert "already deployed" in done.stdout


@pytest.mark.alone
def test_changed_code_goes_straight_to_the_functions(deployed: Deployed) -> None:
    file = deployed.stack.folder / "deployment.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "functions": "outdated", "common": "outdated"}))
    done = deployed.stack.command("deploy", seconds=120, **deployed.settings)
    assert done.returncode == 0, done.stderr
    assert "updated functions and common layer" in done.stdout
    again = json.loads(file.read_text())
    assert (again["functions"], again["common"]) == (record["functions"], record["common"])


def test_a_setting_reaches_its_function_at_once_and_outlasts_a_deployment(
    deployed: Deployed,
) -> None:
    name = "RETENTION_CLEANUP_BATCH_SIZE"  # of a function that no other test invokes
    function = deployed.resources["RetentionCleanup"]

    def value() -> str:
        found = deployed.aws("lambda").get_function_configuration(FunctionName=function)
        return str(found["Environment"]["Variables"][name])

    default = value()
    try:
        done = deployed.stack.command("set", f"{name}=99", seconds=60)
        assert (done.returncode, value()) == (0, "99"), done.stderr
        done = deployed.stack.command("deploy", seconds=120, **deployed.settings)
        assert "already deployed" in done.stdout
        assert value() == "99"
    finally:
        done = deployed.stack.command("set", f"{name}=", seconds=60)
    assert (done.returncode, value()) == (0, default), done.stderr


def test_a_key_is_issued_on_the_command_line(deployed: Deployed) -> None:
    done = deployed.stack.command("key", "acme", "--scope", "read", seconds=60)
    assert done.returncode == 0, done.stderr
    tenant = Tenant("acme", deployed.api_url, done.stdout.strip())
    read, write = tenant("GET", "/api/v1/jobs"), tenant("POST", "/api/v1/crawl", {})
    tenant.close()
    assert (read.status_code, write.status_code) == (200, 403)


def test_a_function_is_invoked_with_an_event_from_a_file(deployed: Deployed) -> None:
    event = str(ROOT / "events" / "core" / "sweep.json")
    done = deployed.stack.command("invoke", "Sweeper", event, seconds=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"leases_expired"' in done.stdout
    assert "REPORT RequestId" in done.stdout


@pytest.mark.parametrize(
    ("function", "event"), [("Nobody", "events/core/sweep.json"), ("Sweeper", "Makefile")]
)
def test_an_invocation_that_makes_no_sense_is_refused(
    function: str, event: str, deployed: Deployed
) -> None:
    done = deployed.stack.command("invoke", function, str(ROOT / event), seconds=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_code_and_layers_fit_into_lambda(deployed: Deployed) -> None:
    pinned = (ROOT / "layers" / "browser" / "artifacts.sha256").read_text()
    assert CHROMIUM in pinned, "measure the packed browser anew"
    build = deployed.stack.folder / "build"
    template = load(ROOT / "template.yaml")
    shared = template["Globals"]["Function"]["Layers"]
    for name, resource in template["Resources"].items():
        if resource["Type"] != "AWS::Serverless::Function":
            continue
        layers = [*shared, *resource["Properties"].get("Layers", [])]
        archives = {each["Ref"]: build / "layers" / f"{each['Ref']}.zip" for each in layers}
        built = {name: _bytes(archive) for name, archive in archives.items()}
        assert all(built.values()), built
        sizes = {name: size + _left_out(archives[name]) for name, size in built.items()}
        code = _bytes(build / "functions.zip")
        assert code > 0
        assert code + sum(sizes.values()) < LAMBDA_UNPACKED_BYTES, (name, code, sizes)


def _left_out(archive: Path) -> int:
    part, size = LEFT_OUT.get(archive.stem, ("", 0))
    return 0 if any(each.startswith(part) for each in ZipFile(archive).namelist()) else size


def _bytes(archive: Path) -> int:
    return sum(each.file_size for each in ZipFile(archive).infolist())

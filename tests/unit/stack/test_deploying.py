"""Settings, ports, status and logs of a deployment; end-to-end tests prove that it deploys."""

import json
import threading
from collections.abc import Iterator, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stack import cli, deploy
from stack.deployment import direct, record, settings, templates
from stack.deployment.record import Deployment
from stack.deployment.sources import Sources
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance, Record, Running, machine_boot
from stack.ports import Ports
from stack.process import ProcessId
from stack.progress import Progress
from stack.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
BURST = "SPINNERET_DOMAIN_BURST"
KNOWN = settings.known(ROOT / "template.yaml")
FUNCTIONS = {
    name: f"spinneret-{name}-1"
    for name, resource in templates.load(ROOT / "template.yaml")["Resources"].items()
    if resource["Type"] == "AWS::Serverless::Function"
}


class _Emulator(ThreadingHTTPServer):
    """Fake of LocalStack and OpenSearch that answers every request with `body` and records it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body: dict[str, Any] = {"Functions": []}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Return the base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Emulator

    def do_DELETE(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        body = json.dumps(self.server.body).encode()
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def emulator(socket_enabled: None) -> Iterator[_Emulator]:
    with _Emulator() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instance:
    monkeypatch.setenv("SPINNERET_LOCAL", str(tmp_path))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the test runner keeps its own handlers
    return Instance("dev", tmp_path / "instances" / "dev")


def workspace(instance: Instance, **environ: str) -> Workspace:
    return Workspace(ROOT, instance.folder.parents[1], environ, Progress())


def running(instance: Instance, url: str = "http://127.0.0.1:9") -> dict[str, str]:
    """Store the instance's endpoints, as if it had been started, and return them."""
    names = ("gateway", "opensearch", "embedder", "websocket", "website", "markets")
    endpoints = dict.fromkeys(names, url) | {"localstack_boot": "boot 1"}
    write_json(instance.endpoints_file, endpoints)
    return endpoints


@cache
def _sources() -> Sources:
    """Return the application's files; their archives are built only once."""
    return Sources(ROOT)


def deployed(instance: Instance, endpoints: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """Record a deployment of the current application with these settings."""
    sources = _sources()
    deployment = Deployment(
        boot="boot 1",
        shape=sources.shape(deploy.parameters_of(chosen, endpoints)),
        functions=direct.sha256_of(sources.function_archive),
        common=direct.sha256_of(sources.common_archive),
        outputs={"ApiId": "api"},
        resources=FUNCTIONS,
        parameters=deploy.parameters_of(chosen, endpoints),
    )
    record.write(instance, deployment)
    settings.keep(instance, chosen)


# ---------------------------------------------------------------- Settings


def test_settings_outlast_the_environment_that_named_them(instance: Instance) -> None:
    settings.keep(instance, settings.wanted(instance, {BURST: "50", "PATH": "/bin"}, KNOWN))
    assert settings.kept(instance) == settings.wanted(instance, {}, KNOWN) == {"DomainBurst": "50"}


def test_an_empty_value_returns_to_the_default(instance: Instance) -> None:
    settings.keep(instance, {"DomainBurst": "50"})
    assert settings.wanted(instance, {BURST: ""}, KNOWN) == {}


@pytest.mark.heavy
def test_what_is_deployed_keeps_its_settings(instance: Instance, emulator: _Emulator) -> None:
    deployed(instance, running(instance, emulator.url), {"DomainBurst": "50"})
    settings.keep(instance, {})  # as after an interruption before the settings were stored
    deploy.deploy_to(instance, workspace(instance), {"DomainBurst": "50"})
    assert settings.kept(instance) == {"DomainBurst": "50"}


def test_an_invalid_setting_ends_a_deployment_before_it_begins(instance: Instance) -> None:
    deployed(instance, running(instance), {})
    with pytest.raises(UsageError, match="DomainBurst is '0', but must be a number from 1"):
        deploy.deploy_to(instance, workspace(instance), {"DomainBurst": "0"})


@pytest.mark.parametrize(
    ("name", "is_known", "takes_free_ports"),
    [("dev", False, False), ("other", False, True), ("other", True, False)],
    ids=["the usual instance", "a new one", "a stopped one, which has its addresses"],
)
def test_a_new_instance_of_another_name_gets_ports_of_its_own(
    instance: Instance,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_known: bool,
    takes_free_ports: bool,
) -> None:
    found: list[bool] = []
    monkeypatch.setattr(deploy, "bring_up", lambda *_, free_ports: found.append(free_ports))
    monkeypatch.setattr(deploy, "deploy_to", lambda *_: None)
    made = Instance.named(name, workspace(instance))
    if is_known:
        made.write(Record(machine_boot(), Ports(), {}))
    deploy.ensure(made, workspace(instance))
    assert found == [takes_free_ports]


# ---------------------------------------------------------------- Status and logs


def test_status_says_that_nothing_is_deployed(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    running(instance)
    died = Running(ProcessId(1, -1), ())  # a living process would be probed
    instance.write(Record(machine_boot(), Ports(), {"embedder": died}))
    assert cli.main(["status"]) == 1
    assert "nothing is deployed: run `make deploy`" in capsys.readouterr().out


def test_status_shows_both_addresses_and_the_settings_in_force(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed(instance, running(instance), {"DomainBurst": "50"})
    died = Running(ProcessId(1, -1), ())
    instance.write(Record(machine_boot(), Ports(), {"embedder": died}))
    assert cli.main(["status"]) == 1
    shown = capsys.readouterr().out
    assert "http://127.0.0.1:9/_aws/execute-api/api/local" in shown
    assert "ws://127.0.0.1:9/ws" in shown
    assert "DomainBurst=50" in shown


def test_a_function_s_last_lines_are_shown(
    instance: Instance, emulator: _Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed(instance, running(instance, emulator.url), {})
    lines = [{"timestamp": at, "message": f"line {at}\n"} for at in (1, 2, 3)]
    emulator.body = {"events": lines}
    assert cli.main(["logs", "--function", "CrawlApi", "-n", "2"]) == 0
    assert capsys.readouterr().out == "line 2\nline 3\n"


def test_an_unknown_function_has_no_log(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed(instance, running(instance), {})
    assert cli.main(["logs", "--function", "Crowl"]) == 2
    assert "template.yaml has no function Crowl" in capsys.readouterr().err

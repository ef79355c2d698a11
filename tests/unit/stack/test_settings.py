"""`set` and `settings`: names, values, and the functions that a change updates."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stack import cli, deploy
from stack.deployment import record, settings, template_parameters
from stack.deployment.record import Deployment
from stack.deployment.variables import OTHERS
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance

ROOT = Path(__file__).resolve().parents[3]
KNOWN = settings.known(ROOT / "template.yaml")
PARAMETERS = template_parameters.read(ROOT / "template.yaml")


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instance:
    monkeypatch.setenv("SPINNERET_LOCAL", str(tmp_path))
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the test runner keeps its own handlers
    return Instance("dev", tmp_path / "instances" / "dev")


class _Functions:
    """Lambda client with the configurations of some functions."""

    def __init__(self, names: list[str]) -> None:
        self.variables: dict[str, dict[str, str]] = {name: {"STAGE": "local"} for name in names}
        self.updated: list[str] = []
        self.conflicts = 0
        """Number of further updates to refuse, as if an earlier update hadn't ended."""

    class exceptions:  # noqa: N801 - boto3's name
        class ResourceConflictException(Exception):
            """Raised while the function is being updated."""

    def get_paginator(self, _operation: str) -> Any:
        return self

    def paginate(self) -> list[dict[str, Any]]:
        found = self.variables.items()
        listed = [{"FunctionName": n, "Environment": {"Variables": v}} for n, v in found]
        return [{"Functions": listed[:1]}, {"Functions": listed[1:]}]

    def get_function_configuration(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3
        return {"State": "Active", "Environment": {"Variables": self.variables[FunctionName]}}

    def update_function_configuration(self, FunctionName: str, Environment: Any) -> None:  # noqa: N803 - boto3
        if self.conflicts:
            self.conflicts -= 1
            raise self.exceptions.ResourceConflictException
        self.updated.append(FunctionName)
        self.variables[FunctionName] = Environment["Variables"]


@pytest.fixture
def functions(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> _Functions:
    """Provide Lambda with the template's functions; record their deployment in the instance."""
    holders = {name for each in PARAMETERS.values() for name in each.variables}
    names = {name: f"spinneret-{name}" for name in holders}
    parts = ("gateway", "opensearch", "embedder", "websocket", "website", "markets")
    endpoints = dict.fromkeys(parts, "http://127.0.0.1:9") | {"localstack_boot": "boot 1"}
    write_json(instance.endpoints_file, endpoints)
    given = deploy.parameters_of({}, endpoints)
    record.write(instance, Deployment("boot 1", "", "", "", {"ApiId": "api"}, names, given))
    found = _Functions(list(names.values()))
    monkeypatch.setattr("stack.aws.client", lambda *_: found)
    return found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("FetchAllowed", "FetchAllowed"),
        ("SPINNERET_FETCH_ALLOWED", "FetchAllowed"),
        ("SPINNERET_JOB__MAX_RETRIES", "JobMaxRetries"),
        ("loglevel", "LogLevel"),
        ("SPINNERET_EMBEDDER", "SPINNERET_EMBEDDER"),
    ],
)
def test_a_setting_has_the_names_of_its_parameter_and_of_its_variable(
    name: str, found: str
) -> None:
    assert settings.find(name, KNOWN).name == found


def test_every_parameter_can_be_set_by_a_variable_of_its_name(instance: Instance) -> None:
    assert KNOWN.keys() == PARAMETERS.keys() - set(settings.STACK_OWN) | {settings.EMBEDDER}
    given = {each.variable: f"{name}!" for name, each in KNOWN.items()}
    assert len(given) == len(KNOWN)
    assert settings.wanted(instance, given, KNOWN) == {name: f"{name}!" for name in KNOWN}
    assert given["SPINNERET_RATE_LIMIT_API_RPM"] == "RateLimitApiRpm!"


def test_a_command_line_overrides_a_variable_and_this_what_is_stored(instance: Instance) -> None:
    settings.keep(instance, {"DomainBurst": "1", "JobMaxRetries": "1", "TeiBatchSize": "1"})
    environ = {"SPINNERET_DOMAIN_BURST": "2", "SPINNERET_JOB__MAX_RETRIES": "2"}
    found = settings.wanted(instance, environ, KNOWN, ["domainburst=3"])
    assert found == {"DomainBurst": "3", "JobMaxRetries": "2", "TeiBatchSize": "1"}


def test_a_variable_that_nothing_reads_is_refused(instance: Instance) -> None:
    read = dict.fromkeys(OTHERS, "1")
    assert settings.wanted(instance, {**read, "HOME": "/"}, KNOWN) == {}
    with pytest.raises(UsageError, match="SPINNERET_JOB_MAX_RETRY: did you mean JobMaxRetries"):
        settings.wanted(instance, {**read, "SPINNERET_JOB_MAX_RETRY": "1"}, KNOWN)


@pytest.mark.heavy
def test_every_variable_that_a_program_reads_is_a_setting_or_another_known_one() -> None:
    named = set()
    for folder in ("infra", "functions", "layers/common", "clients", "benchmarks", "tests", "docs"):
        for file in (ROOT / folder).rglob("*.py"):
            if file != Path(__file__):
                named |= set(re.findall(r"\bSPINNERET(?:_+[A-Z]+)+\b", file.read_text()))
    settable = {settings.find(name, KNOWN).name for name in named - OTHERS}
    assert OTHERS - named <= {"SPINNERET_WHEEL"}  # only in docs/ci.md
    assert {settings.FETCH_PARAMETER, "CrawlTimeout", settings.EMBEDDER} <= settable


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("FetchAlowed", "did you mean FetchAllowed"),
        ("JobMaxRetry", "did you mean JobMaxRetries"),
        ("SPINNERET_LOGLEVELS", "did you mean LogLevel"),
        ("Stage", "make settings"),
        ("Zebra", "make settings"),
    ],
)
def test_an_unknown_name_is_refused_with_the_most_similar_one(name: str, advice: str) -> None:
    with pytest.raises(UsageError, match=f"no setting is named {name}: .*{advice}"):
        settings.find(name, KNOWN)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("DomainBurst", "1", "0"),
        ("DomainBurst", "7", "seven"),
        ("CircuitBreakerThreshold", "100", "101"),
        ("LogLevel", "DEBUG", "debug"),
        ("JobRetryDelaysS", "[1, 2.5]", "1, 2"),
        ("CrawlTimeout", "900", "901"),
        ("RateLimitDefaultRps", "0.5", "0"),
        ("RateLimitDefaultRps", "20", "abc"),
        ("RateLimitDefaultRps", "2.5", "0.000"),
        ("TokenIssuer", "s", ""),
        ("FetchAllowed", "127.0.0.1:9000,[::1]:80", "127.0.0.1"),
        ("SPINNERET_EMBEDDER", "function", "none"),
    ],
)
def test_a_value_must_keep_the_template_s_constraints(name: str, good: str, bad: str) -> None:
    KNOWN[name].check(good)
    with pytest.raises(UsageError, match=f"{name} is '{bad}'"):
        KNOWN[name].check(bad)


def test_only_parameters_of_resources_need_a_deployment() -> None:
    slow = {name for name, each in KNOWN.items() if each.needs_deployment}
    assert slow == {
        *("CheckConcurrency", "CrawlTimeout", "EmbedderSecretArn", "RerankerSecretArn"),
        *("ApiThrottleRps", "ApiThrottleBurst", "SearchInstanceType", "SearchInstanceCount"),
        *("SearchVolumeGib", "SearchZones", "SearchDedicatedMasters", "AlarmTopicArn"),
        "Tracing",
        "SPINNERET_EMBEDDER",
    }


def test_every_setting_has_a_meaning_and_a_function_or_resource_that_reads_it() -> None:
    assert [name for name, each in KNOWN.items() if not each.meaning] == []
    parameters = PARAMETERS.values()
    unread = [each.name for each in parameters if not (each.variables or each.changes_resources)]
    assert unread == []


def test_allowed_endpoints_come_on_top_of_the_demonstration_s() -> None:
    allowed = settings.parameters({"FetchAllowed": "127.0.0.1:9000"})
    assert allowed["FetchAllowed"] == "127.0.0.1:8484,127.0.0.1:8486,127.0.0.1:9000"


def test_a_setting_reaches_exactly_the_functions_that_read_it(
    instance: Instance, functions: _Functions
) -> None:
    assert cli.main(["set", "SPINNERET_JOB__MAX_RETRIES=7", "LogLevel=DEBUG"]) == 0
    assert functions.variables["spinneret-CrawlWorker"]["JOB__MAX_RETRIES"] == "7"
    retrying = {n for n, held in functions.variables.items() if "JOB__MAX_RETRIES" in held}
    assert retrying == {f"spinneret-{name}" for name in PARAMETERS["JobMaxRetries"].variables}
    assert {held["LOG_LEVEL"] for held in functions.variables.values()} == {"DEBUG"}
    assert {held["STAGE"] for held in functions.variables.values()} == {"local"}


# covers S-03
def test_a_reranker_reaches_the_api_of_searches(instance: Instance, functions: _Functions) -> None:
    given = ["RerankerUrl=http://127.0.0.1:9001", "EnableReranker=false"]
    assert cli.main(["set", *given]) == 0
    held = functions.variables["spinneret-SearchApi"]
    assert held["RERANKER_URL"] == "http://127.0.0.1:9001"
    assert held["FEATURES__ENABLE_RERANKER"] == "false"


def test_a_setting_is_stored_and_applied_once(instance: Instance, functions: _Functions) -> None:
    for _ in range(2):
        assert cli.main(["set", "JobMaxRetries=7"]) == 0
    readers = {f"spinneret-{name}" for name in PARAMETERS["JobMaxRetries"].variables}
    assert settings.kept(instance) == {"JobMaxRetries": "7"}
    assert sorted(functions.updated) == sorted(readers)


def test_a_setting_follows_an_update_that_was_interrupted(
    instance: Instance, functions: _Functions
) -> None:
    functions.conflicts = 1
    assert cli.main(["set", "DomainBurst=20"]) == 0
    holders = PARAMETERS["DomainBurst"].variables
    assert sorted(functions.updated) == sorted(f"spinneret-{name}" for name in holders)


@pytest.mark.heavy
def test_an_empty_value_restores_the_default_in_the_functions(
    instance: Instance, functions: _Functions
) -> None:
    cli.main(["set", "JobMaxRetries=7"])
    cli.main(["set", "JobMaxRetries="])
    assert functions.variables["spinneret-CrawlWorker"]["JOB__MAX_RETRIES"] == "3"
    assert settings.kept(instance) == {}


def test_one_invalid_setting_keeps_all_others_from_changing(
    instance: Instance, functions: _Functions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["set", "JobMaxRetries=7", "DomainBurst=0"]) == 2
    assert "DomainBurst" in capsys.readouterr().err
    assert (functions.updated, settings.kept(instance)) == ([], {})


def test_a_parameter_of_resources_is_deployed(
    instance: Instance,
    functions: _Functions,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = []
    monkeypatch.setattr("stack.deploy.deploy_to", lambda *words: given.append(words[2]))
    assert cli.main(["set", "CrawlTimeout=30", "JobMaxRetries=7"]) == 0
    assert given == [{"CrawlTimeout": "30", "JobMaxRetries": "7"}]
    assert functions.updated == []
    assert "CrawlTimeout changes resources" in capsys.readouterr().out


def test_without_a_deployment_a_setting_waits_for_it(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["set", "JobMaxRetries=7"]) == 0
    assert "the next deployment applies it" in capsys.readouterr().out
    assert settings.wanted(instance, {}, KNOWN) == {"JobMaxRetries": "7"}


@pytest.mark.heavy
def test_the_list_shows_value_default_and_meaning(
    instance: Instance, functions: _Functions, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["set", "JobMaxRetries=7"])
    assert cli.main(["settings"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "JobMaxRetries = 7 Consecutive attempts of a crawl, including the first one." in shown
    assert "Default: 3. Variable: SPINNERET_JOB_MAX_RETRIES." in shown
    for name in KNOWN:
        assert f"{name} = " in shown


def test_a_value_may_come_from_the_environment() -> None:
    """`make set NAME=value` passes the value in the environment, whatever its characters."""
    value = 'Mine/1.0 (+https://x; "a" $b)'
    assert settings.assignments(["UserAgent"], {"UserAgent": value}, KNOWN) == {"UserAgent": value}


def test_a_name_without_any_value_changes_nothing(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["set", "JobMaxRetries=7"])
    assert cli.main(["set", "JobMaxRetries"]) == 2
    assert "JobMaxRetries=value" in capsys.readouterr().err
    assert settings.kept(instance) == {"JobMaxRetries": "7"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is the command under test")
def test_make_passes_each_given_variable_on(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    words = ["make", "--no-print-directory", "-n", "-o", ".venv/.done"]
    words += ["set", "JobMaxRetries=7", "INSTANCE=other"]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.split()[-4:] == ["set", "--instance", "other", "JobMaxRetries"]

"""The operator's command that issues a key, on AWS as moto emulates it."""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from spinneret.access.keys import bootstrap
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.models import Principal, Scope
from spinneret.access.tenants.dynamo import DynamoTenantStore
from spinneret.access.wiring import keys_in
from tests.contract.backends import Tables

LIBRARY = Path(__file__).resolve().parents[2] / "layers" / "common"
Run = Callable[..., tuple[int, str, str]]

# Creating moto's tables takes longer than all these tests.
pytestmark = pytest.mark.heavy


@pytest.fixture(autouse=True)
def _ambient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a region, and forget the boto3 session of other tests."""
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def table(moto_tables: Tables) -> str:
    return moto_tables.names["Tenancy"]


@pytest.fixture
def run(table: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Provide a function that runs the command and returns exit code, stdout and stderr."""

    def command(*words: str, table: str = table) -> tuple[int, str, str]:
        try:
            code: Any = bootstrap.main(["--table", table, *words])
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return command


@pytest.fixture
def holder(moto_tables: Tables, table: str) -> Callable[[str], Principal]:
    """Provide a function that returns the principal of a secret."""
    return keys_in(moto_tables.client, table).authenticate


def test_a_tenant_s_first_key_is_an_administrator_s(
    run: Run, holder: Callable[[str], Principal], moto_tables: Tables, table: str
) -> None:
    code, out, err = run("acme")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"spn_[\w-]{43}\n", out)
    caller = holder(out.strip())
    assert (caller.tenant, caller.scopes) == ("acme", {Scope.ADMIN})
    assert (caller.rate_limit_rpm, caller.expires_at) == (60, None)
    [key] = DynamoKeyStore(moto_tables.client, table).page("acme", None, 9).items
    assert key.name == "issued on the command line"


def test_what_a_key_may_do_can_be_chosen(
    run: Run, holder: Callable[[str], Principal], moto_tables: Tables, table: str
) -> None:
    code, out, _ = run(
        *("acme", "--scope", "write", "--scope", "read", "--name", "loader"),
        *("--expires", "2035-01-01T01:00:00+01:00", "--requests-per-minute", "6000"),
    )
    assert code == 0
    caller = holder(out.strip())
    assert caller.scopes == {Scope.READ, Scope.WRITE}
    assert caller.rate_limit_rpm == 6000
    assert caller.expires_at == datetime(2035, 1, 1, tzinfo=UTC)
    [key] = DynamoKeyStore(moto_tables.client, table).page("acme", None, 9).items
    assert key.name == "loader"


WRONG: Mapping[str, tuple[list[str], str]] = {
    "no tenant": ([], "tenant"),
    "no name of a tenant": (["Acme#1"], "not a tenant name"),
    "another scope": (["acme", "--scope", "root"], "--scope"),
    "an empty name": (["acme", "--name", " "], "--name"),
    "no offset": (["acme", "--expires", "2035-01-01T00:00:00"], "--expires"),
    "in the past": (["acme", "--expires", "2001-01-01T00:00:00Z"], "must be in the future"),
    "no rate": (["acme", "--requests-per-minute", "0"], "--requests-per-minute"),
    "too high a rate": (["acme", "--requests-per-minute", "6001"], "--requests-per-minute"),
    "not a number": (["acme", "--requests-per-minute", "many"], "--requests-per-minute"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_command_line_is_explained_and_issues_nothing(
    run: Run, moto_tables: Tables, table: str, case: str
) -> None:
    words, named = WRONG[case]
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert named in err
    assert moto_tables.client.scan(TableName=table)["Items"] == []


def test_a_suspended_tenant_gets_no_key(run: Run, moto_tables: Tables, table: str) -> None:
    DynamoTenantStore(moto_tables.client, table).mark("acme", "unpaid")
    assert run("acme") == (1, "", "no key was issued: the tenant is suspended: unpaid\n")


def test_a_table_that_is_not_there_is_a_failure(run: Run) -> None:
    code, out, err = run("acme", table="nowhere")
    assert (code, out) == (1, "")
    assert err.startswith("no key was issued: ")
    assert "ResourceNotFoundException" in err


@pytest.mark.parametrize(
    ("missing", "named"), [("AWS_DEFAULT_REGION", "region"), ("credentials", "credentials")]
)
def test_an_environment_without_region_or_credentials_is_a_failure(
    missing: str, named: str, tmp_path: Path
) -> None:
    environ = {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONPATH": str(LIBRARY),
    }
    environ.pop(missing, None)
    done: Any = subprocess.run(
        [sys.executable, "-m", "spinneret.access.keys.bootstrap", "--table", "tenancy", "acme"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("no key was issued: ")
    assert named in done.stderr

"""Tenant commands, as the Lambda function receives them (T-07)."""

from typing import Any

import pytest

from spinneret.access.tenants.models import TenantState
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.tenants.commands import TenantCommands
from spinneret.operations.tenants.exporting import TenantExport
from tests.unit.operations.test_tenant_deletion import World
from tests.unit.operations.test_tenant_export import FakeArea, FakeFiles


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def commands(world: World) -> TenantCommands:
    tenants = world.tenants()
    export = TenantExport(
        tenants=tenants,
        areas=[FakeArea("jobs", 3)],
        files=FakeFiles(),
        new_id=lambda prefix: f"{prefix}_1",
    )
    return TenantCommands(tenants=tenants, exports=export, deletions=world.deletion())


def ask(commands: TenantCommands, verb: str, tenant: str = "acme", **more: str) -> dict[str, Any]:
    return commands({"verb": verb, "tenant": tenant, **more}, lambda: 60.0)


def test_a_command_answers_with_progress_a_line_and_a_report(commands: TenantCommands) -> None:
    done = {"progress": "done", "report": {}}
    assert ask(commands, "create", "new") == {**done, "text": "new is active"}
    assert ask(commands, "suspend", reason="unpaid") == {**done, "text": "acme is suspended"}
    assert ask(commands, "resume") == {**done, "text": "acme is active"}
    exported = ask(commands, "export")
    assert exported["text"] == "3 lines in s3://bucket/acme/export_1/"
    assert exported["report"]["export_id"] == "export_1"
    assert ask(commands, "export", export_id="export_1") == exported
    assert ask(commands, "delete")["progress"] == "waiting"


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"verb": "create", "tenant": "acme"}, "there is a tenant of this name"),
        ({"verb": "resume", "tenant": "nobody"}, "no such tenant"),
        ({"verb": "suspend", "tenant": "acme"}, "1 to 200 characters"),
        ({"verb": "destroy", "tenant": "acme"}, "no such command"),
        ({"verb": "create", "tenant": "Not A Name"}, "not a tenant name"),
        ({}, "no such command"),
    ],
)
def test_a_refused_command_says_why(
    request_: dict[str, Any], text: str, commands: TenantCommands
) -> None:
    assert commands(request_, lambda: 60.0) == {"progress": "refused", "text": text, "report": {}}


def test_a_command_waits_for_a_part_that_is_down(
    world: World, commands: TenantCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> None:
        raise DependencyUnavailable("dynamodb")

    monkeypatch.setattr(world.store, "get", refuse)
    assert ask(commands, "resume")["progress"] == "waiting"
    monkeypatch.undo()
    assert ask(commands, "suspend", reason="unpaid")["progress"] == "done"
    tenant = world.store.get("acme")
    assert tenant is not None
    assert tenant.state is TenantState.SUSPENDED

"""The record of an instance's running parts."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from stack.errors import UsageError
from stack.instance import Instance, Record, Running, machine_boot
from stack.ports import Ports
from stack.process import ProcessId, identify
from stack.progress import Progress
from stack.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "project", tmp_path / "local", {}, Progress())


@pytest.fixture
def instance(workspace: Workspace) -> Instance:
    return Instance.named("dev", workspace)


@pytest.fixture
def own() -> Running:
    process = identify(os.getpid())
    assert process is not None
    return Running(process, ("/tools/a", "/tools/b"))


def _record(**parts: Running) -> Record:
    return Record(machine_boot(), Ports(1, 2, 3), parts)


def test_a_record_is_read_as_it_was_written(instance: Instance, own: Running) -> None:
    record = _record(opensearch=own)
    instance.write(record)
    assert instance.read() == record


def test_an_instance_that_was_never_started_has_no_record(instance: Instance) -> None:
    assert instance.read() is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"boot": "x", "ports": {}, "parts": {"a": 1}}'])
def test_a_record_of_another_form_counts_as_none(instance: Instance, text: str) -> None:
    instance.run_file.parent.mkdir(parents=True)
    instance.run_file.write_text(text)
    assert instance.read() is None


def test_a_part_whose_pid_was_given_to_another_process_is_dead(own: Running) -> None:
    former = replace(own, process=ProcessId(own.process.pid, own.process.started - 1))
    assert _record(opensearch=former, localstack=own).alive() == {"localstack": own}


def test_after_a_boot_of_the_machine_nothing_runs(own: Running) -> None:
    record = replace(_record(opensearch=own), boot="another boot")
    assert record.alive() == {}


@pytest.mark.parametrize("name", ["", "../x", "Dev", "-a", "a/b", "a" * 32, "a b", "a\n"])
def test_a_name_that_is_no_plain_folder_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError):
        Instance.named(name, workspace)


def test_the_marks_of_instances_and_parts_differ(workspace: Workspace) -> None:
    one, two = Instance.named("one", workspace), Instance.named("two", workspace)
    owners = {i.owner(part) for i in (one, two) for part in ("opensearch", "localstack")}
    assert len(owners) == 4

"""The versions of Java and Maven that the stack uses, and the checksums of their artifacts."""

from pathlib import Path

import pytest

from stack.errors import InstallError, UsageError
from stack.tools import java, maven
from stack.tools.jars import manifest
from stack.tools.java import Java

SETTINGS = """Property settings:
    java.class.version = 61.0
    java.home = /usr/lib/jvm/java-17
    java.specification.version = {version}
    java.vm.specification.version = 8

openjdk version "17.0.15" 2025-04-15
"""


@pytest.mark.parametrize(("text", "version"), [("17", 17), ("25", 25), ("1.8", 8)])
def test_java_tells_its_home_and_version(text: str, version: int) -> None:
    settings = SETTINGS.format(version=text)
    assert java.parse(settings) == Java(Path("/usr/lib/jvm/java-17"), version)


def test_a_program_that_is_no_java_is_none() -> None:
    assert java.parse("no such option") is None


def _fake_java(folder: Path, version: int) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    settings = SETTINGS.format(version=version).replace("/usr/lib/jvm/java-17", str(folder))
    executable.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{settings}END\n")
    executable.chmod(0o755)
    return executable


def test_the_named_java_comes_before_the_others(tmp_path: Path) -> None:
    named, home = _fake_java(tmp_path / "a", 17), _fake_java(tmp_path / "b", 21)
    environ = {"SPINNERET_JAVA": str(named), "JAVA_HOME": str(home.parent.parent), "PATH": ""}
    assert java.of_machine(environ) == Java(tmp_path / "a", 17)


def test_a_java_may_be_named_by_its_home(tmp_path: Path) -> None:
    _fake_java(tmp_path / "a", 17)
    assert java.of_machine({"SPINNERET_JAVA": str(tmp_path / "a")}) == Java(tmp_path / "a", 17)


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old, new = _fake_java(tmp_path / "a", 11), _fake_java(tmp_path / "b", 17)
    environ = {"JAVA_HOME": str(old.parent.parent), "PATH": str(new.parent)}
    assert java.of_machine(environ) == Java(tmp_path / "b", 17)


@pytest.mark.parametrize("environ", [{"PATH": ""}, {"SPINNERET_JAVA": "none"}])
def test_without_a_java_there_is_none(environ: dict[str, str]) -> None:
    assert java.of_machine(environ) is None


def test_a_named_java_that_does_not_do_is_refused(tmp_path: Path) -> None:
    old = _fake_java(tmp_path, 11)
    for named in (str(old), "/no/such/java"):
        with pytest.raises(UsageError, match="SPINNERET_JAVA"):
            java.of_machine({"SPINNERET_JAVA": named})


def test_none_forces_the_machine_without_maven(tmp_path: Path) -> None:
    mvn = tmp_path / "mvn"
    mvn.write_text("#!/bin/sh\n")
    mvn.chmod(0o755)
    assert maven.of_machine({"PATH": str(tmp_path)}) == mvn
    assert maven.of_machine({"PATH": str(tmp_path), "SPINNERET_MVN": "none"}) is None
    assert maven.of_machine({"PATH": ""}) is None
    with pytest.raises(UsageError, match="SPINNERET_MVN"):
        maven.of_machine({"PATH": str(tmp_path), "SPINNERET_MVN": "/no/such/mvn"})


@pytest.fixture
def pinned(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    folder, digests = tmp_path / "jars", tmp_path / "artifacts.sha256"
    folder.mkdir()
    for name in ("a-1.jar", "b-2.jar"):
        (folder / name).write_text(name)
    maven.write_digests(digests, folder)
    return folder, maven.read_digests(digests)


def test_the_pinned_artifacts_are_accepted(pinned: tuple[Path, dict[str, str]]) -> None:
    folder, expected = pinned
    assert sorted(expected) == ["a-1.jar", "b-2.jar"]
    maven.verify(folder, expected)


def test_artifacts_other_than_the_pinned_ones_are_refused(
    pinned: tuple[Path, dict[str, str]],
) -> None:
    folder, expected = pinned
    (folder / "a-1.jar").write_text("altered")
    (folder / "b-2.jar").rename(folder / "b-3.jar")
    with pytest.raises(InstallError) as refusal:
        maven.verify(folder, expected)
    message = str(refusal.value)
    assert "other content: a-1.jar" in message
    assert "missing: b-2.jar" in message
    assert "not expected: b-3.jar" in message


def _unfold(text: str) -> list[str]:
    return text.replace("\r\n ", "").removesuffix("\r\n").split("\r\n")


@pytest.mark.parametrize("length", [1, 59, 60, 61, 130, 131, 132, 5000])
def test_a_manifest_has_no_line_over_72_bytes_and_loses_nothing(length: int) -> None:
    value = "".join(chr(ord("a") + i % 26) for i in range(length))
    text = manifest({"Main-Class": "Main", "Class-Path": value})
    assert max(len(line) for line in text.split("\r\n")) <= 72
    assert _unfold(text) == ["Main-Class: Main", f"Class-Path: {value}"]

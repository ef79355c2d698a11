"""The package as its users install it: types, and a wheel in its own environment."""

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "clients" / "python"
UV = Path(sys.executable).with_name("uv")
MOST_PACKAGES = 19
"""Maximum number: the client itself and the packages that httpx, pydantic, typer and rich need."""
MOST_SECONDS = 15.0
PROGRAM = """
import asyncio

from spinneret_client import ApiError, AsyncSpinneret, Spinneret
from spinneret_client.generated.models import SearchHit, TagView


def first(client: Spinneret) -> SearchHit:
    return client.search(query="silk", domains=["example.com"], mode_of_faults=1).results[0]


def tags(client: Spinneret) -> list[TagView]:
    return list(client.tags.list(limit=10, max_items=20))


async def crawl(client: AsyncSpinneret) -> str:
    job = await client.crawls.create(url="https://example.com/", priority="urgent")
    done = await client.jobs.wait(job.job_id, timeout=5)
    async for event in client.jobs.stream(done.job_id):
        print(event.progress + 1)
    return [tag.name async for tag in client.tags.list()]


try:
    asyncio.run(crawl(AsyncSpinneret()))
except ApiError as error:
    print(error.code, error.request_id)
"""
FAULTS = ("mode_of_faults", "priority", "job_id", "Incompatible return value")
"""Expected errors: unknown field, unknown value, union that isn't narrowed, wrong result."""


# covers L-01
@pytest.mark.heavy
def test_strict_mypy_finds_the_faults_of_a_program_and_no_others(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == len(FAULTS), done.stdout
    assert all(fault in done.stdout for fault in FAULTS)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _uv("build", "--wheel", str(PACKAGE), "--out-dir", str(folder))
    (found,) = folder.glob("*.whl")
    return found


# covers L-01
@pytest.mark.proof
def test_the_wheel_installs_quickly_with_few_packages(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    _uv("venv", str(environment))
    python = environment / "bin" / "python"
    begin = time.monotonic()
    _uv("pip", "install", "--python", str(python), str(wheel))
    assert time.monotonic() - begin < MOST_SECONDS
    listed = json.loads(_uv("pip", "list", "--python", str(python), "--format", "json"))
    assert len(listed) <= MOST_PACKAGES, [each["name"] for each in listed]
    home = {**os.environ, "SPINNERET_CONFIG_HOME": str(tmp_path)}
    command = environment / "bin" / "spinneret"
    shown = subprocess.run(
        [command, "--help"], capture_output=True, text=True, env=home, check=True
    )
    assert "crawl" in shown.stdout
    extra = subprocess.run([command, "mcp"], capture_output=True, text=True, env=home, check=False)
    assert extra.returncode == 1
    needed = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert f"pip install '{needed['optional-dependencies']['mcp'][0]}'" in extra.stderr


def _uv(*arguments: str) -> str:
    done = subprocess.run([UV, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout

"""The file that tells others where a running instance is and what to work on it with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stack.files import write_json
from stack.instance import Instance, Record, Running
from stack.parts import embedder, localstack
from stack.parts.part import Part
from stack.ports import HOST
from stack.tools.python_tools import model_folder, weights_folder
from stack.tools.venv import python
from stack.workspace import REGION

# The names that readers know the parts' addresses by.
KEYS = {"localstack": "gateway"}


def write(instance: Instance, record: Record, parts: Iterable[Part]) -> None:
    """Describes the given parts; the file has nothing of parts that do not run.

    `localstack_boot` changes whenever LocalStack was started: what was deployed before is gone.
    """
    value = {KEYS.get(part.name, part.name): part.url(record.ports) for part in parts}
    value["region"] = REGION
    if localstack.NAME in record.parts:
        value["dynamodb"] = f"http://{HOST}:{record.ports.dynamodb}"
        value |= _localstack(record.boot, record.parts[localstack.NAME])
    if embedder.NAME in record.parts:
        value |= _embedder(record.parts[embedder.NAME])
    write_json(instance.endpoints_file, value)


def _localstack(boot: str, running: Running) -> dict[str, str]:
    process = running.process
    return {
        "localstack_python": str(python(_folder(running, "localstack"))),
        "localstack_boot": f"{boot}-{process.pid}-{process.started}",
        "runtime_python": str(python(_folder(running, "runtime"))),
        "sam": str(_folder(running, "sam") / "bin" / "sam"),
    }


def _embedder(running: Running) -> dict[str, str]:
    return {
        "model": str(model_folder(_folder(running, "model"))),
        "weights": str(weights_folder(_folder(running, "embedder"))),
    }


def _folder(running: Running, tool: str) -> Path:
    """The tool that the part was started with, which may not be the one of the present sources."""
    return next(
        folder for folder in map(Path, running.tools) if folder.name.rpartition("-")[0] == tool
    )

"""The file with the addresses of a running instance, and the tools to use with it."""

from collections.abc import Iterable
from pathlib import Path

from stack.files import write_json
from stack.instance import Instance, Record, Running
from stack.parts import embedder, localstack, website
from stack.parts.part import Part
from stack.ports import HOST
from stack.tools.python_tools import model_folder, weights_folder
from stack.tools.venv import python
from stack.workspace import REGION

# Names under which readers know the parts' addresses.
KEYS = {"localstack": "gateway"}


def write(instance: Instance, record: Record, parts: Iterable[Part]) -> None:
    """Write the addresses of the given parts; parts that do not run are left out.

    `localstack_boot` changes with every start of LocalStack, which loses earlier deployments.
    """
    value = {KEYS.get(part.name, part.name): part.url(record.ports) for part in parts}
    value["region"] = REGION
    if localstack.NAME in record.parts:
        value["dynamodb"] = f"http://{HOST}:{record.ports.dynamodb}"
        value |= _localstack(record.boot, record.parts[localstack.NAME])
    if website.NAME in record.parts:
        value["markets"] = f"http://{HOST}:{record.ports.markets}"
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
    """Return the tool that started the part; current sources may need another version."""
    return next(
        folder for folder in map(Path, running.tools) if folder.name.rpartition("-")[0] == tool
    )

"""The file that tells others where a running instance is and what to work on it with."""

from __future__ import annotations

from collections.abc import Iterable

from stack.files import write_json
from stack.instance import Instance, Record
from stack.parts import embedder, localstack
from stack.parts.part import Part
from stack.tools.python_tools import (
    embedder_tool,
    localstack_tool,
    model_folder,
    model_tool,
    runtime_tool,
    sam_tool,
    weights_folder,
)
from stack.tools.store import Store
from stack.tools.venv import python
from stack.workspace import REGION

# The names that readers know the parts' addresses by.
KEYS = {"localstack": "gateway"}


def write(instance: Instance, record: Record, parts: Iterable[Part], store: Store) -> None:
    """Describes the given parts; the file has nothing of parts that do not run.

    `localstack_boot` changes whenever LocalStack was started: what was deployed before is gone.
    """
    running = {part.name: part for part in parts}
    value = {KEYS.get(name, name): part.url(record.ports) for name, part in running.items()}
    value["region"] = REGION
    if localstack.NAME in running:
        value |= _localstack(record, store)
    if embedder.NAME in running:
        value |= _embedder(store)
    write_json(instance.endpoints_file, value)


def _localstack(record: Record, store: Store) -> dict[str, str]:
    workspace = store.workspace
    process = record.parts[localstack.NAME].process
    return {
        "localstack_python": str(python(store.path(localstack_tool(workspace)))),
        "localstack_boot": f"{record.boot}-{process.pid}-{process.started}",
        "runtime_python": str(python(store.path(runtime_tool(workspace)))),
        "sam": str(store.path(sam_tool(workspace)) / "bin" / "sam"),
    }


def _embedder(store: Store) -> dict[str, str]:
    workspace = store.workspace
    return {
        "model": str(model_folder(store.path(model_tool(workspace)))),
        "weights": str(weights_folder(store.path(embedder_tool(workspace)))),
    }

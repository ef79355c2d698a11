"""The Python environments of the stack, one for each purpose, none with another's packages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from stack.errors import InstallError
from stack.tools.store import Store, Tool
from stack.tools.venv import Venv, interpreter_fact, site_packages, venv_tool
from stack.workspace import Workspace

CONVERT_SECONDS: Final = 1_200.0
CATALOG_SECONDS: Final = 600.0
# LocalStack looks for ready-made files here, below its file system root.
STATIC_FOLDER: Final = "usr/lib/localstack"


def localstack_tool(workspace: Workspace) -> Tool:
    """LocalStack with our plug-in, and the index of AWS operations that it starts with."""
    requirements = workspace.requirements / "localstack.txt"
    plugin = workspace.sources / "localstack_plugin"

    def build(store: Store, folder: Path) -> None:
        venv = Venv(store, tool, folder)
        venv.create(requirements)
        venv.add_project(plugin)
        _build_catalog(venv)

    inputs = (requirements, plugin)
    tool = Tool("localstack", "LocalStack", inputs, (interpreter_fact(),), build)
    return tool


def _build_catalog(venv: Venv) -> None:
    """Builds the service catalogue, which otherwise takes some seconds of every boot."""
    root = venv.folder / "root"
    (root / STATIC_FOLDER).mkdir(parents=True)
    environ = {
        "PATH": os.defpath,
        "HOME": str(venv.folder),
        "OVERRIDE_IN_DOCKER": "0",
        "FILESYSTEM_ROOT": str(root),
    }
    venv.run("-m", "localstack.aws.spec", environ=environ, seconds=CATALOG_SECONDS)


def catalog(localstack: Path) -> Path:
    """The service catalogue of an installed LocalStack."""
    return next((localstack / "root" / STATIC_FOLDER).glob("service-catalog-*.dill"))


def runtime_tool(workspace: Workspace) -> Tool:
    """What the Lambda service puts beside a function's code."""
    return venv_tool("runtime", "the Lambda runtime", workspace.requirements / "runtime.txt")


def sam_tool(workspace: Workspace) -> Tool:
    return venv_tool("sam", "the SAM CLI", workspace.requirements / "sam.txt")


def embedder_tool(workspace: Workspace) -> Tool:
    """The embedder's libraries and the original weights; its code is run from the sources."""
    requirements = workspace.requirements / "embedder.txt"
    weights = workspace.requirements / "weights.txt"

    def build(store: Store, folder: Path) -> None:
        venv = Venv(store, tool, folder)
        venv.create(requirements)
        venv.add_without_dependencies(weights)

    inputs = (requirements, weights)
    tool = Tool("embedder", "the embedder", inputs, (interpreter_fact(),), build)
    return tool


def embedder_sources(workspace: Workspace) -> tuple[Path, Path]:
    """The folders of the model's package, which is a layer of the application too, and of its
    server's."""
    return workspace.root / "layers" / "embedder", workspace.sources / "embedder"


def weights_folder(embedder: Path) -> Path:
    """Where the weights' package keeps model.safetensors and tokenizer.json."""
    found = sorted(site_packages(embedder).rglob("model.safetensors"))
    if len(found) != 1:
        raise InstallError(f"the weights in {embedder} are not where they should be: {found}")
    return found[0].parent


def model_tool(workspace: Workspace) -> Tool:
    """The embedding model as the embedder's server loads it."""
    sources = embedder_sources(workspace)
    libraries = embedder_tool(workspace)

    def build(store: Store, folder: Path) -> None:
        environment = store.ensure(libraries)
        venv = Venv(store, tool, environment)
        environ = {
            "PATH": os.defpath,
            "PYTHONPATH": str(sources[0]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        arguments = ("-m", "spinneret_embedder.convert", "--out", folder / "model")
        venv.run(*arguments, environ=environ, seconds=CONVERT_SECONDS)

    # The server's count, so that one that runs older ones is told of.
    inputs = (*sources, *libraries.inputs)
    tool = Tool("model", "the embedding model", inputs, (interpreter_fact(),), build)
    return tool


def model_folder(model: Path) -> Path:
    return model / "model"


def websocket_tool(workspace: Workspace) -> Tool:
    """The WebSocket gateway's libraries; its code is run from the sources."""
    requirements = workspace.requirements / "websocket.txt"

    def build(store: Store, folder: Path) -> None:
        Venv(store, tool, folder).create(requirements)

    # The sources count, so that a gateway that runs older ones is told of.
    inputs = (requirements, workspace.sources / "websocket")
    tool = Tool("websocket", "the WebSocket gateway", inputs, (interpreter_fact(),), build)
    return tool

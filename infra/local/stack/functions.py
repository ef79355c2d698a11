"""Functions of the template and their sample events, as commands name them."""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from stack.deployment import templates
from stack.errors import UsageError
from stack.workspace import Workspace


def add_call(parser: argparse.ArgumentParser) -> None:
    """Add a function and an event. They are optional, so that a command can list them."""
    parser.add_argument("function", nargs="?", help="logical id in template.yaml, such as Sweeper")
    parser.add_argument("event", nargs="?", type=Path, help="file with the event, events/…json")


def require_call(arguments: argparse.Namespace, workspace: Workspace) -> None:
    """Raise UsageError, which lists functions and events, unless both are given and exist."""
    usage = f"make {arguments.command} F=Sweeper E=events/core/sweep.json"
    if arguments.function is None or arguments.event is None:
        listed = "\n".join(_listed(workspace.root))
        raise UsageError(f"name a function and an event: {usage}\n{listed}")
    require_function(arguments.function, workspace)
    if not arguments.event.is_file():
        samples = [str(file.relative_to(workspace.root)) for file in _events(workspace.root)]
        near = _nearest(str(arguments.event), samples)
        listed = near or "\n".join(["the sample events:", *(f"  {each}" for each in samples)])
        raise UsageError(f"there is no file {arguments.event}: {listed}")


def require_function(name: str, workspace: Workspace) -> None:
    """Raise UsageError, with the most similar name or all, unless the template has the function."""
    names = [each for area in _by_area(workspace.root).values() for each in area]
    if name not in names:
        listed = _nearest(name, names) or "\n".join(["", *_listed(workspace.root)])
        raise UsageError(f"template.yaml has no function {name}: {listed}")


def _nearest(name: str, names: list[str]) -> str | None:
    by_lower = {each.lower(): each for each in names}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[found[0]]}?" if found else None


def _listed(root: Path) -> Iterator[str]:
    for area, names in _by_area(root).items():
        yield f"  {area}: {', '.join(names)}"
        for file in _events(root):
            if file.parent.name == area:
                yield f"    {file.relative_to(root)}"


def _by_area(root: Path) -> dict[str, list[str]]:
    """Return the functions of each area, in the template's order."""
    found = defaultdict(list)
    for name, resource in templates.load(root / "template.yaml")["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            found[resource["Properties"]["Handler"].partition(".")[0]].append(name)
    return found


def _events(root: Path) -> list[Path]:
    return sorted((root / "events").glob("*/*.json"))

"""`status`: print a table of the parts and their processes."""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

from stack.deployment import record as deployed
from stack.deployment import settings
from stack.errors import StackError
from stack.instance import Instance, Record
from stack.lifecycle import failure
from stack.parts.catalogue import all_parts
from stack.parts.part import Part
from stack.process import ProcessId, proportional_bytes, started_at
from stack.workspace import Workspace


@dataclass(frozen=True)
class Row:
    part: str
    pid: str
    up_since: str
    memory: str
    url: str
    healthy: str


HEADINGS = Row("PART", "PID", "UP SINCE", "MEMORY", "URL", "HEALTHY")
WORKS = "yes"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the status; return 0 if parts run and all of them pass their probes.

    A page of memory that processes share counts once: each shows its share.
    """
    instance = Instance.named(arguments.instance, workspace)
    record = instance.read()
    if record is None or not record.parts:
        workspace.progress.say(f"instance {instance.name} does not run")
        return 1
    parts = [part for part in all_parts(workspace) if part.name in record.parts]
    health = _health(parts, record)
    sizes = {
        part.name: {each: proportional_bytes(each) for each in instance.processes(part.name)}
        for part in parts
    }
    rows = [
        row for part in parts for row in _rows(part, record, health[part.name], sizes[part.name])
    ]
    total = sum(size for each in sizes.values() for size in each.values())
    rows.append(Row("all", "", "", _megabytes(total), "", ""))
    for line in table([HEADINGS, *rows]):
        workspace.progress.say(line)
    for line in _deployed(instance):
        workspace.progress.say(line)
    return 0 if all(state == WORKS for state in health.values()) else 1


def _deployed(instance: Instance) -> Iterator[str]:
    """Yield both addresses and the settings that differ from their defaults."""
    try:
        deployment = deployed.current(instance)
        endpoints = deployed.endpoints(instance)
    except StackError:
        yield "nothing is deployed: run `make deploy`"
        return
    websocket = endpoints["websocket"].replace("http://", "ws://", 1)
    yield f"API:       {deployment.api_url(endpoints['gateway'])}"
    yield f"WebSocket: {websocket}/{deployed.WEBSOCKET_STAGE}"
    chosen = settings.kept(instance)
    named = ", ".join(f"{name}={value}" for name, value in sorted(chosen.items()))
    yield f"settings:  {named or 'all at their defaults'}; `make settings` explains them"


def _health(parts: Sequence[Part], record: Record) -> dict[str, str]:
    alive = record.alive()
    running = [part for part in parts if part.name in alive]
    health = {part.name: "no: it has died" for part in parts}
    with ThreadPoolExecutor(max(1, len(running))) as pool:
        errors = pool.map(lambda part: failure(part.probe, part.url(record.ports)), running)
        for part, error in zip(running, errors, strict=True):
            health[part.name] = WORKS if error is None else f"no: {error}"
    return health


def _rows(part: Part, record: Record, health: str, sizes: Mapping[ProcessId, int]) -> Iterator[Row]:
    running = record.alive().get(part.name)
    main = running.process if running is not None else None
    url = part.url(record.ports)
    if main is None:
        yield Row(part.name, "-", "-", "-", url, health)
    else:
        size = _megabytes(sizes.get(main, 0))
        yield Row(part.name, str(main.pid), _since(main), size, url, health)
    children: dict[str, list[ProcessId]] = defaultdict(list)
    for process in sizes:
        if process != main:
            children[_kind(process)].append(process)
    for kind, group in sorted(children.items()):
        pid = str(group[0].pid) if len(group) == 1 else f"{len(group)} processes"
        size = _megabytes(sum(sizes[each] for each in group))
        yield Row(f"  {kind}", pid, _since(group[0]), size, "", "")


def _kind(process: ProcessId) -> str:
    try:
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        command = b""
    return "dynamodb" if b"DynamoDBLocal" in command else "functions"


def _since(process: ProcessId) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(started_at(process)))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def table(rows: Sequence[Row]) -> list[str]:
    """Return lines with aligned columns."""
    cells = [astuple(row) for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]

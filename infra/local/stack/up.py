"""`up`: everything installed, running and proved to work; a no-op when it already is."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Sequence

from stack import endpoints, ports
from stack.install import install
from stack.instance import Instance, Record, instance_lock, machine_boot
from stack.lifecycle import await_ready, end, start
from stack.parts import localstack
from stack.parts.catalogue import all_parts, select
from stack.parts.part import Part, Site
from stack.tools.store import Store
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="*", help="only these parts (default: all)")
    parser.add_argument(
        "--free-ports",
        action="store_true",
        help="pick free ports where no SPINNERET_*_PORT names one",
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    instance = Instance.named(arguments.instance, workspace)
    parts = select(workspace, arguments.part)
    with instance_lock(instance, workspace):
        bring_up(instance, parts, workspace, free_ports=arguments.free_ports)
    return 0


def bring_up(
    instance: Instance, parts: Sequence[Part], workspace: Workspace, *, free_ports: bool
) -> None:
    """Starts those of the parts that do not run and waits until all of them work."""
    begin = time.monotonic()
    former = instance.read()
    alive = former.alive() if former is not None else {}
    missing = [part for part in parts if part.name not in alive]
    held = former.ports if former is not None and alive else None
    chosen = ports.choose(ports.requested(workspace.environ), held=held, pick=free_ports)
    # What outlived a dead part would hold its ports and work on data that are gone.
    end(instance, None, [part.name for part in all_parts(workspace) if part.name not in alive])
    ports.refuse_taken(chosen, [part.port for part in missing])

    store = Store(workspace)
    tools = install(parts, store, with_java=bool(missing))
    if not alive:
        shutil.rmtree(instance.data, ignore_errors=True)
    in_use = {str(tool) for tool in tools} | set(former.tools if former and alive else ())
    record = Record(machine_boot(), chosen, alive, tuple(sorted(in_use)))
    record = _start(missing, parts, Site(instance, chosen, store), record)

    running = [part for part in all_parts(workspace) if part.name in record.alive()]
    endpoints.write(instance, record, running, store)
    _report(instance, record, running, workspace, time.monotonic() - begin)
    lost = former is not None and localstack.NAME in former.processes
    if lost and any(part.name == localstack.NAME for part in missing):
        workspace.progress.say("LocalStack had died and its resources with it: deploy again")


def _start(missing: Sequence[Part], parts: Sequence[Part], site: Site, record: Record) -> Record:
    """Starts the missing parts; if one fails, ends all that were started here."""
    instance, say = site.instance, site.store.workspace.progress.say
    names = [part.name for part in missing]
    if missing:
        say(f"starting {', '.join(part.title for part in missing)} …")
    try:
        for part in missing:
            record = record.with_process(part.name, start(part, site))
            instance.write(record)
        for part, seconds in await_ready(parts, site, record, fresh=names):
            if part.name in names:
                say(f"{part.title} works … {seconds:.0f} s")
    except BaseException:
        end(instance, record, names)
        for name in names:
            record = record.without(name)
        instance.write(record)
        raise
    return record


def _report(
    instance: Instance,
    record: Record,
    running: Sequence[Part],
    workspace: Workspace,
    seconds: float,
) -> None:
    say = workspace.progress.say
    for part in running:
        say(f"  {part.name:<12}{part.url(record.ports)}")
    say(f"instance {instance.name} is up ({seconds:.1f} s); see {instance.endpoints_file}")

"""`up`: install and start everything, and verify that it works; does nothing if it already does."""

import argparse
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Final

from stack import endpoints, ports
from stack.errors import PortTaken
from stack.install import install
from stack.instance import Instance, Record, instance_lock, machine_boot
from stack.lifecycle import end, start_missing, tool_folders
from stack.parts import localstack
from stack.parts.catalogue import all_parts, select
from stack.parts.part import Part, Site
from stack.port_claims import claim, is_start
from stack.tools.store import Store
from stack.workspace import Workspace

TRIES: Final = 3  # starts of an instance, each on other ports


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="*", help="only these parts (default: all)")
    parser.add_argument(
        "--free-ports",
        action="store_true",
        help="pick free ports unless a SPINNERET_*_PORT is set",
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
    """Start the parts that don't run, and wait until all of them work."""
    begin = time.monotonic()
    former = instance.read()
    alive = former.alive() if former is not None else {}
    # Processes of a dead part would keep its ports and work on deleted data.
    end(instance, None, [part.name for part in all_parts(workspace) if part.name not in alive])
    missing = [part for part in parts if part.name not in alive]
    held = former.ports if former is not None and alive else None
    wanted = ports.requested(workspace.environ)
    store = Store(workspace)
    for tries in range(1, TRIES + 1):
        # Addresses stay over a restart: the former block is claimed first.
        block = former.ports.gateway if former is not None else None
        picks = held is None and (free_ports or is_start(block))
        with claim(first=block) if picks else nullcontext() as claimed:
            chosen = ports.choose(
                wanted, held=held, claim=claimed, former=former.ports if former else None
            )
            ports.refuse_taken(chosen, [port for part in missing for port in part.bound_ports])
            install(parts, store, with_java=bool(missing))
            if not alive:
                shutil.rmtree(instance.data, ignore_errors=True)
            record = Record(machine_boot(), chosen, alive)
            site = Site(instance, chosen, store, claimed)
            try:
                record = start_missing(missing, parts, site, record)
            except PortTaken as error:
                if not picks or error.port in wanted.values() or tries == TRIES:
                    raise
                workspace.progress.say(f"{str(error).splitlines()[0]}; trying other ports")
                continue
        break

    running = [part for part in all_parts(workspace) if part.name in record.alive()]
    endpoints.write(instance, record, running)
    _report(instance, record, running, workspace, time.monotonic() - begin)
    for line in _advice(former, record, running, store):
        workspace.progress.say(line)


def _advice(
    former: Record | None, record: Record, running: Sequence[Part], store: Store
) -> Iterator[str]:
    """Yield advice for the user after a start."""
    before = former.parts.get(localstack.NAME) if former is not None else None
    now = record.parts.get(localstack.NAME)
    if before is not None and now is not None and before != now:
        yield "LocalStack had died: a deployment brings functions and data back"
    for part in running:
        if record.parts[part.name].tools != tool_folders(part, store):
            yield f"{part.title} runs old sources: restart it with down and up"


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

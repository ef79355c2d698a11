"""Start the parts of an instance, wait for them, and end them."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from stack.errors import PortTaken, ProbeError, StackError, StartError
from stack.files import last_lines
from stack.instance import Instance, Record, Running
from stack.parts.part import Part, Site, require_listener
from stack.port_claims import is_taken
from stack.process import ProcessId, is_alive, spawn, stop
from stack.tools.store import Store

# LocalStack ends its functions and DynamoDB itself, which takes some seconds.
GRACE_SECONDS: Final = 15.0
# A part that is already running answers a probe sooner than one that boots.
RUNNING_SECONDS: Final = 120.0
SHOWN_LINES: Final = 20
POLL_SECONDS: Final = 0.2


def start_missing(
    missing: Sequence[Part], parts: Sequence[Part], site: Site, record: Record
) -> Record:
    """Start the missing parts, and wait until all of the parts work.

    If one fails, or the user interrupts, all parts started here are ended again.
    """
    instance, say = site.instance, site.store.workspace.progress.say
    names = [part.name for part in missing]
    if missing:
        say(f"starting {', '.join(part.title for part in missing)} …")
    try:
        for part in missing:
            running = Running(_start(part, site), tool_folders(part, site.store))
            record = record.with_part(part.name, running)
            instance.write(record)
        for part, seconds in _await_ready(parts, site, record, fresh=names):
            if part.name in names:
                say(f"{part.title} works … {seconds:.0f} s")
    except BaseException:
        end(instance, record, names)
        instance.write(record.without(names))
        raise
    return record


def tool_folders(part: Part, store: Store) -> tuple[str, ...]:
    return tuple(str(store.path(tool)) for tool in part.tools)


def _start(part: Part, site: Site) -> ProcessId:
    """Start a part with a new log; the former log is kept with the suffix .1."""
    log = site.instance.log(part.name)
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    inherited = [] if site.claim is None else [site.claim.descriptor]
    process = spawn(
        part.spawn(site), log=log, owner=site.instance.owner(part.name), inherited=inherited
    )
    if process is None:
        raise _ended(part, site, "ended at once")
    return process


def _await_ready(
    parts: Sequence[Part], site: Site, record: Record, *, fresh: Collection[str]
) -> Iterator[tuple[Part, float]]:
    """Wait for all parts at once, and yield each part that works with the seconds it took.

    Raises StartError for the first part that ends or exceeds its time; the wait for the others ends
    then. `fresh` names the parts that boot: these are probed. The others passed a probe when they
    booted, and `status` probes them again; here it takes too long before each deployment of code.
    """
    abandon = threading.Event()
    begin = time.monotonic()
    with ThreadPoolExecutor(len(parts)) as pool:
        waits = {}
        for part in parts:
            boots = part.name in fresh
            limit = part.boot_seconds if boots else RUNNING_SECONDS
            probe = part.probe if boots else require_listener
            process = record.parts[part.name].process
            waits[pool.submit(_wait, part, probe, site, process, limit, abandon)] = part
        try:
            for done in as_completed(waits):
                done.result()
                yield waits[done], time.monotonic() - begin
        finally:
            abandon.set()


def _wait(
    part: Part,
    probe: Callable[[str], None],
    site: Site,
    process: ProcessId,
    limit: float,
    abandon: threading.Event,
) -> None:
    url = part.url(site.ports)
    deadline = time.monotonic() + limit
    while not abandon.is_set():
        error = failure(probe, url)
        if error is None:
            return
        if not is_alive(process):
            raise _ended(part, site, "ended while it started")
        if time.monotonic() > deadline:
            text = f"{part.title} does not work after {limit:.0f} s: {error}"
            raise StartError(_with_log(text, site.instance, part))
        abandon.wait(POLL_SECONDS)


def _ended(part: Part, site: Site, how: str) -> StartError:
    """Return the error of a part whose process has ended."""
    port = getattr(site.ports, part.port)
    if is_taken(port):
        text = f"{part.title} {how}: another program has taken port {port}"
        return PortTaken(_with_log(text, site.instance, part), port)
    return StartError(_with_log(f"{part.title} {how}", site.instance, part))


def failure(probe: Callable[[str], None], url: str) -> ProbeError | None:
    """Return why a probe failed, or None if it passed."""
    try:
        probe(url)
    except ProbeError as error:
        return error
    return None


def _with_log(text: str, instance: Instance, part: Part) -> str:
    log = instance.log(part.name)
    lines = "\n".join(f"  {line}" for line in last_lines(log, SHOWN_LINES))
    return f"{text}\nthe end of {log}:\n{lines}"


def end(instance: Instance, record: Record | None, names: Sequence[str]) -> bool:
    """End the named parts and all processes they started, even those without a main process.

    Returns whether any process was running. Raises StackError when a process cannot be ended.
    """

    def family() -> list[ProcessId]:
        return [process for name in names for process in instance.processes(name)]

    alive = record.alive() if record is not None else {}
    mains = [alive[name].process for name in names if name in alive] or family()
    if not mains:
        return False
    rest = stop(mains, family, GRACE_SECONDS)
    if rest:
        pids = ", ".join(str(process.pid) for process in rest)
        raise StackError(f"these processes could not be ended: {pids}")
    return True

"""Run the tests without each condition of the DynamoDB writes, and without each part of one.

    .venv/bin/python benchmarks/mutate.py                       every mutant
    .venv/bin/python benchmarks/mutate.py --only documents/     mutants whose name contains this
    .venv/bin/python benchmarks/mutate.py --stack dev           survivors on DynamoDB Local, too

The command prints a line per mutant and the totals. The exit code is 1 if no test fails for a
mutant, and 2 if the run gives no result. The working tree doesn't change.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from benchmarks.mutation.mutants import Mutant, mutants
from benchmarks.mutation.runs import (
    Outcome,
    RunFailed,
    Runs,
    Selection,
)

JOBS_MAX: Final = 2


def _contract(*suites: str, unit: str) -> Selection:
    contract = (f"tests/contract/test_{suite}.py" for suite in suites)
    return Selection(paths=(*contract, f"tests/unit/{unit}"))


# By the start of the mutant's name: the tests that are likely to fail, the likeliest first.
SELECTIONS: Final[Mapping[str, Selection]] = {
    "jobs/": _contract("job_*", "due_*", "duplicate_*", "effect*", "connection_*", unit="jobs"),
    "content/documents/": _contract("document_*", unit="content/documents"),
    "web/politeness/": _contract("host_ledger*", unit="web/politeness"),
    "web/proxies/": _contract("proxy_*", unit="web/proxies"),
    "web/hosts/": _contract("host_settings*", unit="web/hosts"),
    "events/webhooks/": _contract("webhook_*", unit="events/webhooks"),
    "access/keys/": _contract("key_*", "rate_*", "tenancy_*", unit="access/keys"),
    "": Selection(paths=("tests/contract",)),
}
# Without architecture tests: they read the source, and would fail because of the edit itself.
EVERYTHING: Final = Selection(paths=("tests/contract", "tests/unit"), marks="not stack")
EQUIVALENT: Final[Mapping[str, str]] = {
    "events/webhooks/dynamo.py:remove: change _THERE: attribute_exists(#pk)": (
        "the count is there whenever the endpoint is, which the transaction's other write asks for"
    ),
    **dict.fromkeys(
        (
            "web/proxies/dynamo.py:replace: _free_name: config_id",
            "web/proxies/dynamo.py:remove: _free_name: config_id",
        ),
        "the name is the config's own as long as the config has the version that is asked for too",
    ),
}
"""Mutants that no test can detect, each with the reason."""


def main() -> None:
    """Run the command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="mutants named so")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    parser.add_argument("--jobs", type=int, default=JOBS_MAX, help=f"at once (default {JOBS_MAX})")
    parser.add_argument("--stack", metavar="INSTANCE", help="a running instance for survivors")
    arguments = parser.parse_args()
    if not 1 <= arguments.jobs <= JOBS_MAX:
        parser.error(f"--jobs is 1 to {JOBS_MAX}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that its child processes end, too
    with tempfile.TemporaryDirectory(prefix="spinneret-mutate-") as folder:
        runs = Runs(root=ROOT, folder=Path(folder), copies=arguments.jobs)
        every = mutants(runs.pristine)
        if unknown := EQUIVALENT.keys() - {mutant.name for mutant in every}:
            parser.error(f"EQUIVALENT names no mutant: {', '.join(sorted(unknown))}")
        chosen = [mutant for mutant in every if arguments.only in mutant.name]
        if not chosen:
            parser.error("no mutant is named so")
        if arguments.list:
            print("\n".join(mutant.name for mutant in chosen))
            return
        try:
            sys.exit(_judge(runs, chosen, arguments.stack))
        except RunFailed as failed:
            print(failed)
            sys.exit(2)


def _judge(runs: Runs, chosen: Sequence[Mutant], instance: str | None) -> int:
    """Print the verdicts; return 1 if a mutant survived or is wrongly listed as equivalent."""
    for selection in dict.fromkeys(map(_selection, chosen)):
        seconds = runs.baseline(selection)
        print(f"no mutant  passed {' '.join(selection.paths)}  {seconds:.1f} s", flush=True)
    runs.split()
    stages = [EVERYTHING, *([_on_stack(instance)] if instance else [])]
    verdicts: Counter[str] = Counter()
    for mutant, outcome in _outcomes(runs, chosen, stages):
        reason = EQUIVALENT.get(mutant.name)
        match outcome.killed_by, reason:
            case None, None:
                verdict, told = "survivors", "SURVIVED"
            case None, _:
                verdict, told = "equivalent", f"equivalent: {reason}"
            case test, None:
                verdict, told = "killed", f"killed by {test}"
            case test, _:
                verdict, told = "wrongly called equivalent", f"NOT EQUIVALENT: killed by {test}"
        verdicts[verdict] += 1
        print(f"{mutant.name}  {told}  {outcome.seconds:.1f} s", flush=True)
    sums = {"killed": 0, "survivors": 0, **verdicts}
    print(f"{len(chosen)} mutants, " + ", ".join(f"{n} {verdict}" for verdict, n in sums.items()))
    return bool(verdicts.keys() - {"killed", "equivalent"})


def _outcomes(
    runs: Runs, chosen: Sequence[Mutant], stages: Sequence[Selection]
) -> Iterator[tuple[Mutant, Outcome]]:
    """Yield the outcomes in the order of the mutants, each as soon as possible."""
    pool = ThreadPoolExecutor(runs.copies)
    try:
        fates = pool.map(lambda mutant: _fate(runs, mutant, stages), chosen)
        yield from zip(chosen, fates, strict=True)
    finally:
        runs.stop()
        pool.shutdown(cancel_futures=True)


def _fate(runs: Runs, mutant: Mutant, stages: Sequence[Selection]) -> Outcome:
    """Run the mutant's own tests first, and all others only if these pass."""
    started = time.monotonic()
    killed_by = None
    for selection in (_selection(mutant), *stages):
        killed_by = runs.with_mutant(mutant, selection).killed_by
        if killed_by is not None:
            break
    return Outcome(killed_by=killed_by, seconds=time.monotonic() - started)


def _on_stack(instance: str) -> Selection:
    environ = {"SPINNERET_TEST_INSTANCE": instance, "SPINNERET_LOCAL": str(ROOT / ".local")}
    return Selection(paths=("tests/contract",), marks="stack", environ=tuple(environ.items()))


def _selection(mutant: Mutant) -> Selection:
    return next(tests for start, tests in SELECTIONS.items() if mutant.name.startswith(start))


if __name__ == "__main__":
    main()

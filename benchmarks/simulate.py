"""Run the job kernel under seeded schedules of crashes, lost responses, outages and skewed clocks.

    .venv/bin/python benchmarks/simulate.py --seeds 10000
    .venv/bin/python benchmarks/simulate.py --seed 4711
    .venv/bin/python benchmarks/simulate.py --load 7

The same seeds also run small loads with bounded pollers, and LARGE_SEEDS seeds run the large load
of 20,000 jobs. The command prints two tables and the steps of failing seeds. `--seed` prints the
steps of any seed.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common")]

from tests.simulation.capacity import Capacity, CapacityReport
from tests.simulation.loads import LARGE
from tests.simulation.run import (
    Report,
    actor_threads,
    silent_logs,
    simulate,
)

BLOCK = 25  # seeds that a process takes at a time
SEEDS_MAX = 1_000_000
PRINTED_MAX = 3  # failing seeds whose scenario is printed
SUMS = (
    "steps",
    "jobs",
    "parents",
    "executions",
    "crashes",
    "lost_answers",
    "duplicates",
    "lost_messages",
    "lease_losses",
    "reclaimed",
    "repeated",
    "expired",
    "in_doubt",
    "purged",
)
LARGE_SEEDS = 4
_BLOCKS_FOR_TWO = 8  # with fewer, a second process doesn't pay off


def main() -> None:
    """Run the simulations; exit with 1 if a rule was broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--first", type=int, default=0, help="where to begin (default 0)")
    parser.add_argument("--seed", type=int, help="one seed only, step by step")
    parser.add_argument("--processes", type=int, default=2, help="that share them (default 2)")
    parser.add_argument("--load", type=int, help="one seed of a small load only")
    arguments = parser.parse_args()
    if not 1 <= arguments.seeds <= SEEDS_MAX:
        parser.error(f"--seeds is 1 to {SEEDS_MAX}")
    if arguments.seed is not None:
        sys.exit(_print(simulate(arguments.seed)))
    if arguments.load is not None:
        with silent_logs():
            print(Capacity(arguments.load).run())
        return
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    failed = _run_all(seeds, arguments.processes)
    sys.exit(_run_loads(seeds, arguments.processes) or failed)


def _print(report: Report) -> int:
    for step in report.trace:
        print(step)
    print(f"\nseed {report.seed}: {'; '.join(report.violations) or 'no rule broken'}")
    return bool(report.violations)


def _run_all(seeds: Sequence[int], processes: int) -> int:
    started = time.monotonic()
    sums: Counter[str] = Counter()
    failing: list[int] = []
    longest, passes = 0.0, 0
    for figures, seed, settle in _all(seeds, processes):
        sums.update(figures)
        longest, passes = max(longest, settle[0]), max(passes, settle[1])
        if seed is not None:
            failing.append(seed)
    rows = [("seeds", f"{len(seeds)}"), *((name, f"{sums[name]}") for name in SUMS)]
    rows += [
        ("longest way to rest", f"{longest:.0f} s, {passes} sweeps"),
        ("failures", f"{len(failing)}"),
        ("wall time", f"{time.monotonic() - started:.1f} s"),
    ]
    print("| figure | value |\n|---|---|")
    for name, value in rows:
        print(f"| {name.replace('_', ' ')} | {value} |")
    for seed in failing[:PRINTED_MAX]:
        print(f"\n--seed {seed}")
        _print(simulate(seed))
    return bool(failing)


def _run_loads(seeds: Sequence[int], processes: int) -> int:
    started = time.monotonic()
    blocks = [seeds[start : start + BLOCK] for start in range(0, len(seeds), BLOCK)]
    large = range(LARGE_SEEDS if len(seeds) >= BLOCK * _BLOCKS_FOR_TWO else 0)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        loaded = pool.imap(_large_load, large)
        small = list(chain.from_iterable(pool.imap(_small_loads, blocks)))
        full = list(loaded)
    print("\n| load | small | large |\n|---|---|---|")
    columns = [[report for _, report in each] for each in (small, full)]
    for name, figure in _LOAD_FIGURES.items():
        print(f"| {name} | {' | '.join(figure(each) if each else '' for each in columns)} |")
    print(f"| wall time | {time.monotonic() - started:.1f} s | |")
    failing = [(seed, report) for seed, report in (*small, *full) if report.violations]
    for seed, report in failing[:PRINTED_MAX]:
        print(f"\n--load {seed} ({report.jobs} jobs): {'; '.join(report.violations)}")
    return bool(failing)


Reports = Sequence[CapacityReport]

_LOAD_FIGURES: dict[str, Callable[[Reports], str]] = {
    "seeds": lambda found: f"{len(found)}",
    "jobs": lambda found: f"{sum(each.jobs for each in found)}",
    "messages per job": lambda found: (
        f"{sum(each.messages for each in found) / max(1, sum(each.jobs for each in found)):.2f}"
    ),
    "longest lane": lambda found: f"{max(each.longest_lane for each in found)} messages",
    "latest end of a wait": lambda found: f"{max(each.wait_late for each in found):.0f} s late",
    "latest return of an ended lease": lambda found: (
        f"{max(each.lease_late for each in found):.0f} s late"
    ),
    "latest replacement of a lost message, its lane empty": lambda found: (
        f"{max(each.replaced_late for each in found):.0f} s"
    ),
    "latest event of a writer that died, after its grace": lambda found: (
        f"{max(each.event_late for each in found):.0f} s"
    ),
    "longest pass": lambda found: (
        f"{max(each.longest_pass for each in found):.0f} s,"
        f" {max(each.most_calls for each in found)} calls"
    ),
    "failures": lambda found: f"{sum(bool(each.violations) for each in found)}",
}


def _small_loads(seeds: Sequence[int]) -> list[tuple[int, CapacityReport]]:
    with silent_logs():
        return [(seed, Capacity(seed).run()) for seed in seeds]


def _large_load(seed: int) -> tuple[int, CapacityReport]:
    with silent_logs():
        return seed, Capacity(seed, LARGE).run()


Outcome = tuple[dict[str, int], int | None, tuple[float, int]]
"""Figures, the seed if it failed, and the seconds and sweeps from the last fault to rest."""


def _all(seeds: Sequence[int], processes: int) -> Iterator[Outcome]:
    blocks = [seeds[start : start + BLOCK] for start in range(0, len(seeds), BLOCK)]
    if processes == 1 or len(blocks) < _BLOCKS_FOR_TWO:
        yield from chain.from_iterable(map(_block, blocks))
        return
    # Each process is a new interpreter: a fork would copy this one while its threads run.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from chain.from_iterable(pool.imap(_block, blocks))


def _block(seeds: Sequence[int]) -> list[Outcome]:
    with actor_threads() as threads:
        return [_outcome(simulate(seed, threads)) for seed in seeds]


def _outcome(report: Report) -> Outcome:
    figures: dict[str, int] = {name: getattr(report, name) for name in SUMS}
    failed = report.seed if report.violations else None
    return figures, failed, (report.settle_seconds, report.passes)


if __name__ == "__main__":
    main()

"""Statement coverage of spinneret by package, from the data of `make coverage`.

    python benchmarks/coverage_table.py

Prints a Markdown table: a row for each package, one for all service.py files together, and the
total. The command fails if a service.py, or all of them together, are below 90 %.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coverage import Coverage

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "layers" / "common" / "spinneret"
LOWEST_PERCENT: Final = 90.0


@dataclass(frozen=True)
class StatementCount:
    """Statements of one or more files, and the number of them that no test ran."""

    statements: int = 0
    missed: int = 0

    def __add__(self, other: StatementCount) -> StatementCount:
        """Return the sum of both counts."""
        return StatementCount(self.statements + other.statements, self.missed + other.missed)

    @property
    def percent(self) -> float:
        """Share of statements that a test ran; 100 without statements."""
        return 100 * (1 - self.missed / self.statements) if self.statements else 100.0

    def row(self, name: str) -> str:
        """Return the row of a Markdown table."""
        return f"| {name} | {self.statements:,} | {self.missed:,} | {self.percent:.1f} % |"


def counts_by_file() -> dict[Path, StatementCount]:
    """Return the count of each file of spinneret; its path is relative to the package."""
    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    counts = {}
    for file in sorted(SOURCE.rglob("*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(file))
        counts[file.relative_to(SOURCE)] = StatementCount(len(statements), len(missing))
    return counts


def main() -> int:
    """Print the table and each service.py below the bound; return 1 if there is one."""
    counts = counts_by_file()
    packages: dict[str, StatementCount] = {}
    for file, count in counts.items():
        if len(file.parts) > 1:  # spinneret/__init__.py is in none of the packages
            package = file.parts[0]
            packages[package] = packages.get(package, StatementCount()) + count
    services = {file: count for file, count in counts.items() if file.name == "service.py"}
    together = sum(services.values(), StatementCount())
    print("| package | statements | missed | covered |\n|---|---|---|---|")
    for package, count in packages.items():
        print(count.row(package))
    print(together.row(f"services ({len(services)} files `service.py`)"))
    print(sum(counts.values(), StatementCount()).row("all"))
    low = {file: count for file, count in services.items() if count.percent < LOWEST_PERCENT}
    for file, count in low.items():
        print(f"{file} has {count.percent:.1f} %, less than {LOWEST_PERCENT:g} %", file=sys.stderr)
    if together.percent < LOWEST_PERCENT:
        print(f"the services together have less than {LOWEST_PERCENT:g} %", file=sys.stderr)
    return 1 if low or together.percent < LOWEST_PERCENT else 0


if __name__ == "__main__":
    sys.exit(main())

"""The examination and its report."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.operations.doctor import rules
from spinneret.operations.doctor.models import Diagnosis, State
from spinneret.operations.doctor.ports import StageFacts

_CODES: Final = {State.OK: 0, State.WARNING: 1, State.FAULT: 2}
_HEADINGS: Final = ("STATE", "PART", "FOUND", "REMEDY")


@service
class Doctor:
    """Examines a stage; a part that can't be read doesn't hide the others."""

    facts: StageFacts
    clock: Clock

    def examine(self) -> list[Diagnosis]:
        """Return the findings about all parts."""
        facts = self.facts
        parts: dict[str, Callable[[], Iterable[Diagnosis]]] = {
            "stacks": lambda: rules.stacks(facts.stacks()),
            "schedules": lambda: rules.schedules(facts.schedules()),
            "queues": lambda: rules.queues(facts.queues()),
            "API": lambda: rules.readiness(facts.readiness()),
            "index": lambda: rules.index(facts.index()),
            "signing keys": lambda: rules.keys(facts.keys(), self.clock()),
            "quotas": lambda: rules.quotas(facts.quotas()),
        }
        with ThreadPoolExecutor(len(parts)) as threads:
            found = threads.map(_examined, parts, parts.values())
            return [finding for findings in found for finding in findings]


def exit_code(findings: Iterable[Diagnosis]) -> int:
    """Return 0 if everything is in order, 1 with warnings, 2 with a fault."""
    return max((_CODES[each.state] for each in findings), default=0)


def table(findings: Sequence[Diagnosis]) -> list[str]:
    """Return lines with aligned columns, faults first."""
    ordered = sorted(findings, key=lambda each: -_CODES[each.state])
    rows = [_HEADINGS, *((each.state, each.part, each.found, each.remedy) for each in ordered)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _examined(part: str, examine: Callable[[], Iterable[Diagnosis]]) -> list[Diagnosis]:
    try:
        return list(examine())
    except DependencyUnavailable as error:
        remedy = "try again; check the credentials and the permissions of the operator"
        return [Diagnosis(part, State.FAULT, f"can't be read: {error.message}", remedy)]

"""Data that every report is rendered from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from spinneret.audits.checks.catalogue import catalogue, ranked
from spinneret.audits.checks.models import Check, Severity
from spinneret.audits.comparison import Key, RunComparison
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import Result
from spinneret.audits.scoring import CheckStats

PRODUCT: Final = "Spinneret"
GRADES: Final = ((90, "A"), (80, "B"), (70, "C"), (60, "D"))
"""Grades of squirrelscan; lower scores get F."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A check that failed at least once."""

    check: Check[Any]
    tally: CheckStats
    pages: int


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """An audit with its findings and the changes since an earlier run."""

    result: Result
    findings: FindingLog
    comparison: RunComparison | None = None

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """Issues sorted by severity, category, weight."""
        return tuple(
            Issue(check, self.result.score.tallies[check.id], self.findings.count(check.id))
            for check in ranked(catalogue())
            if self.findings.count(check.id)
        )

    @cached_property
    def new(self) -> frozenset[Key]:
        """Issues that the earlier run didn't have."""
        return frozenset(self.comparison.new) if self.comparison else frozenset()

    def state(self, key: Key) -> str:
        """Return `new` or `still`; empty without an earlier run."""
        if self.comparison is None:
            return ""
        return "new" if key in self.new else "still"

    @property
    def grade(self) -> str:
        """Letter of the score."""
        total = self.result.score.total
        return next((letter for bound, letter in GRADES if total >= bound), "F")

    def not_checked(self) -> Iterator[str]:
        """Yield sentences about unchecked links, images and pages."""
        coverage = self.result.coverage
        for noun, known, checked in (
            ("external links", coverage.external_links, coverage.external_links_checked),
            ("images", coverage.images, coverage.images_checked),
        ):
            if checked < known:
                yield f"{known - checked:,} of {known:,} {noun} not checked"
        if coverage.pages_not_visited:
            yield f"{coverage.pages_not_visited:,} known addresses of the site not visited"

    def changes(self) -> Iterator[str]:
        """Yield sentences about the changes since the last run; none without an earlier run."""
        change = self.comparison
        if change is None:
            return
        yield (
            f"since the last run: {change.change:+.1f} points, {len(change.new):,} new, "
            f"{len(change.fixed):,} fixed, {len(change.still):,} still there, "
            f"{len(change.not_seen):,} on pages not visited this time, "
            f"{len(change.unchecked):,} not checked this time"
        )
        if change.catalogue_changed:
            yield "the last run used another catalogue, which may explain some changes"


LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
"""Levels of SARIF 2.1.0, section 3.27.10, and types of JUnit failures."""

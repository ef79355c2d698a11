"""The issue log of a run, for routes and later audits: lines of JSON, compressed.

The first line describes the run. Then come its extent (a line for each visited page, each URL whose
answer is unknown, and each check that couldn't be judged), and a line for each issue, in the order
of reports.
"""

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from spinneret.audits.checks.catalogue import numbers
from spinneret.audits.checks.models import Evidence
from spinneret.audits.comparison import Known
from spinneret.audits.findings import Finding
from spinneret.kernel.canonical import json_text


@dataclass(frozen=True, kw_only=True)
class IssueHead:
    """Description of the run that an issue log belongs to."""

    start_url: str
    score: float
    catalogue_version: str
    pages: int
    """Number of following lines with visited pages, …"""
    unasked: int = 0
    """… with URLs whose answers are unknown, …"""
    unchecked: int = 0
    """… and with checks that couldn't be judged."""


@dataclass(frozen=True, kw_only=True)
class LoggedIssue:
    """One issue and its state: `new`, `still`, or empty without an earlier run."""

    finding: Finding
    state: str


def written(
    start_url: str,
    score: float,
    catalogue_version: str,
    known: Known,
    issues: Iterable[LoggedIssue],
) -> Iterator[str]:
    """Yield the lines of the log."""
    head = IssueHead(
        start_url=start_url,
        score=score,
        catalogue_version=catalogue_version,
        pages=len(known.visited),
        unasked=len(known.unasked),
        unchecked=len(known.unchecked),
    )
    yield _line(asdict(head))
    for line in (*known.visited, *sorted(known.unasked), *sorted(known.unchecked)):
        yield _line(line)
    for issue in issues:
        finding = issue.finding
        yield _line([finding.check, finding.url, finding.count, issue.state, *finding.evidence])


class IssueLog:
    """Reader of a stored log, which reads it once from the start."""

    def __init__(self, stored: bytes) -> None:
        self._lines = iter(gzip.GzipFile(fileobj=io.BytesIO(stored)))
        self.head = head = IssueHead(**json.loads(next(self._lines)))
        self._extent = list(islice(self._lines, head.pages + head.unasked + head.unchecked))

    @cached_property
    def known(self) -> Known:
        """Extent of the run; parsed on demand, since sitemaps may list half a million URLs."""
        lines = map(json.loads, self._extent)
        return Known(
            visited=frozenset(islice(lines, self.head.pages)),
            unasked=frozenset(islice(lines, self.head.unasked)),
            unchecked=frozenset((check, url) for check, url in lines),
            start_url=self.head.start_url,
            checks=numbers(),  # of this release: a log doesn't name its own
        )

    def issues(self) -> Iterator[LoggedIssue]:
        """Yield all issues, once."""
        for line in self._lines:
            check, url, count, state, *evidence = json.loads(line)
            rows = tuple(Evidence(*each) for each in evidence)
            yield LoggedIssue(
                finding=Finding(check=check, url=url, count=count, evidence=rows), state=state
            )

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of all issues, once."""
        return (issue.finding for issue in self.issues())


def _line(value: Any) -> str:
    return f"{json_text(value)}\n"

"""The log of a run's issues, as routes and later audits read it: lines of JSON, compressed.

The first line says what the run was, then a line for each page that it visited, then one for each
issue, in the order of reports.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from spinneret.audits.checks.models import Evidence
from spinneret.audits.comparison import Key
from spinneret.audits.findings import Finding


@dataclass(frozen=True, kw_only=True)
class IssueHead:
    """What an issue log is of."""

    start_url: str
    score: float
    catalogue_version: str
    pages: int
    """Lines with visited pages behind this one."""


@dataclass(frozen=True, kw_only=True)
class LoggedIssue:
    """One issue and whether the run before had it (`new`, `still`, or nothing without one)."""

    finding: Finding
    state: str


def written(
    head: IssueHead, visited: Collection[str], issues: Iterable[LoggedIssue]
) -> Iterator[str]:
    """The log, line by line."""
    yield _line(asdict(head))
    for url in visited:
        yield _line(url)
    for issue in issues:
        finding = issue.finding
        yield _line([finding.check, finding.url, finding.count, issue.state, *finding.evidence])


class IssueLog:
    """A log as it is stored; read once, from its beginning on."""

    def __init__(self, stored: bytes) -> None:
        self._lines = iter(gzip.GzipFile(fileobj=io.BytesIO(stored)))
        self.head = IssueHead(**json.loads(next(self._lines)))

    def visited(self) -> Iterator[str]:
        """The pages of the run; to be read before the issues."""
        for _ in range(self.head.pages):
            yield json.loads(next(self._lines))

    def issues(self) -> Iterator[LoggedIssue]:
        """All issues."""
        for line in self._lines:
            check, url, count, state, *evidence = json.loads(line)
            rows = tuple(Evidence(*each) for each in evidence)
            yield LoggedIssue(
                finding=Finding(check=check, url=url, count=count, evidence=rows), state=state
            )

    def keys(self) -> Iterator[Key]:
        """What makes issues the same in another run."""
        return (issue.finding.key for issue in self.issues())


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"

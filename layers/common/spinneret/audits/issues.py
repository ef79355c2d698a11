"""The issue log of a run, for routes and later audits: lines of JSON, compressed.

The first line describes the run. Then comes a line for each visited page, then one for each issue,
in the order of reports.
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
    """Description of the run that an issue log belongs to."""

    start_url: str
    score: float
    catalogue_version: str
    pages: int
    """Number of following lines with visited pages."""


@dataclass(frozen=True, kw_only=True)
class LoggedIssue:
    """One issue and its state: `new`, `still`, or empty without an earlier run."""

    finding: Finding
    state: str


def written(
    head: IssueHead, visited: Collection[str], issues: Iterable[LoggedIssue]
) -> Iterator[str]:
    """Yield the lines of the log."""
    yield _line(asdict(head))
    for url in visited:
        yield _line(url)
    for issue in issues:
        finding = issue.finding
        yield _line([finding.check, finding.url, finding.count, issue.state, *finding.evidence])


class IssueLog:
    """Reader of a stored log, which reads it once from the start."""

    def __init__(self, stored: bytes) -> None:
        self._lines = iter(gzip.GzipFile(fileobj=io.BytesIO(stored)))
        self.head = IssueHead(**json.loads(next(self._lines)))

    def visited(self) -> Iterator[str]:
        """Yield the pages of the run; must be read before the issues."""
        for _ in range(self.head.pages):
            yield json.loads(next(self._lines))

    def issues(self) -> Iterator[LoggedIssue]:
        """Yield all issues."""
        for line in self._lines:
            check, url, count, state, *evidence = json.loads(line)
            rows = tuple(Evidence(*each) for each in evidence)
            yield LoggedIssue(
                finding=Finding(check=check, url=url, count=count, evidence=rows), state=state
            )

    def keys(self) -> Iterator[Key]:
        """Yield the keys that identify issues across runs."""
        return (issue.finding.key for issue in self.issues())


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"

"""Issues that were found, kept in a file: their number grows with the site, memory doesn't."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final

from spinneret.audits.checks.catalogue import catalogue, ranked
from spinneret.audits.checks.models import Evidence

MAX_EVIDENCE: Final = 10
"""Of one issue on one page; how many there are in all is counted besides."""
MAX_CHARS: Final = 500
"""Of a value; addresses stay whole."""
# Neither XML 1.0 nor HTML can hold them, even escaped.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check that a page, or the site, failed."""

    check: str
    url: str
    """Of the page; for checks of the site, of its start page."""
    count: int
    """How often it is wrong there: `evidence` holds the first ten."""
    evidence: tuple[Evidence, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same issue in another run."""
        return self.check, self.url


def finding_of(check: str, url: str, evidence: Iterable[Evidence]) -> Finding:
    """With its evidence bounded; controls, which fit into no report, are replaced."""
    rows = tuple(evidence)
    return Finding(
        check=check,
        url=url,
        count=len(rows),
        evidence=tuple(
            Evidence(
                _clean(each.where[:MAX_CHARS]),
                _clean(each.value[:MAX_CHARS]),
                _clean(each.threshold),
                _clean(each.url),
            )
            for each in rows[:MAX_EVIDENCE]
        ),
    )


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class FindingLog:
    """Findings in a file that can be read and sought, such as `tempfile.TemporaryFile()`.

    They are read back check by check, though pages add them mixed: what is held in memory is the
    place of each.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, array[int]] = {}

    def add(self, finding: Finding) -> None:
        """At the end of the file."""
        place = self._file.seek(0, 2)
        row = [finding.check, finding.url, finding.count, *finding.evidence]
        self._file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())
        self._file.write(b"\n")
        self._places.setdefault(finding.check, array("Q")).append(place)

    def count(self, check: str) -> int:
        """Pages that failed the check."""
        return len(self._places.get(check, ()))

    def of(self, check: str) -> Iterator[Finding]:
        """Those of one check, in the order in which they came."""
        for place in self._places.get(check, ()):
            self._file.seek(place)
            name, url, count, *evidence = json.loads(self._file.readline())
            yield Finding(
                check=name,
                url=url,
                count=count,
                evidence=tuple(Evidence(*each) for each in evidence),
            )

    def __iter__(self) -> Iterator[Finding]:
        """In the order of reports: severity, category, weight."""
        for check in ranked(catalogue()):
            yield from self.of(check.id)

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

"""Findings stored in a file: their number grows with the site, memory use doesn't."""

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final

from spinneret.audits.checks.catalogue import catalogue, ranked
from spinneret.audits.checks.models import Evidence
from spinneret.kernel.canonical import json_text

MAX_EVIDENCE: Final = 10
"""Maximum evidence of one issue on one page; the total is counted separately."""
MAX_CHARS: Final = 500
"""Maximum length of a value; URLs are never cut."""
# Neither XML 1.0 nor HTML allows these characters, even escaped.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A failed check of a page or of the site."""

    check: str
    url: str
    """URL of the page; of the start page for checks of the site."""
    count: int
    """Number of faults on the page: `evidence` contains the first ten."""
    evidence: tuple[Evidence, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Key that identifies the issue across runs."""
        return self.check, self.url


def finding_of(check: str, url: str, evidence: Iterable[Evidence]) -> Finding:
    """Build a finding with bounded evidence.

    Control characters, which no report format allows, are replaced.
    """
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
    """Findings in a readable and seekable file, such as `tempfile.TemporaryFile()`.

    Findings are read back by check, although pages add them in mixed order: memory only holds the
    position of each.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, array[int]] = {}

    def add(self, finding: Finding) -> None:
        """Append the finding to the file."""
        place = self._file.seek(0, 2)
        row = [finding.check, finding.url, finding.count, *finding.evidence]
        self._file.write(f"{json_text(row)}\n".encode())
        self._places.setdefault(finding.check, array("Q")).append(place)

    def count(self, check: str) -> int:
        """Return the number of pages that failed the check."""
        return len(self._places.get(check, ()))

    def of(self, check: str) -> Iterator[Finding]:
        """Yield one check's findings in insertion order."""
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
        """Yield all findings in the order of reports: severity, category, weight."""
        for check in ranked(catalogue()):
            yield from self.of(check.id)

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

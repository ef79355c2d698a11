"""Outcomes of a file's lines: stored in blocks while reading, then joined into the report.

A block is stored before its crawls are created, under the fence of the claim that creates them. The
same write that creates the crawls moves the cursor, which maps lines to claims. So the report omits
lines of a failed or superseded claim whose crawls don't exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.ports import InboxStore
from spinneret.jobs.models import JobRef


@dataclass(frozen=True, kw_only=True)
class FileCursor:
    """Position where reading continues; its text form is the cursor of the file's job."""

    line: int = 1
    offset: int = 0
    claims: tuple[tuple[int, int], ...] = ()
    """(fence, first line) of each claim that has read lines, in order."""

    @classmethod
    def of(cls, cursor: str) -> FileCursor:
        """Parse a cursor; empty means the start."""
        if not cursor:
            return cls()
        line, offset, claims = cursor.split(":")
        pairs = [each.split("@") for each in claims.split(",") if each]
        return cls(
            line=int(line),
            offset=int(offset),
            claims=tuple((int(fence), int(first)) for fence, first in pairs),
        )

    @property
    def cursor(self) -> str:
        """Text form that `of` parses."""
        claims = ",".join(f"{fence}@{first}" for fence, first in self.claims)
        return f"{self.line}:{self.offset}:{claims}"

    def moved(self, fence: int, line: int, offset: int) -> FileCursor:
        """Return the position after the claim with this fence has read the lines before `line`."""
        claims = self.claims
        if not claims or claims[-1][0] != fence:
            claims = (*claims, (fence, self.line))
        return FileCursor(line=line, offset=offset, claims=claims)


@dataclass
class OutcomeWriter:
    """Outcomes of one claim, stored in consecutive objects."""

    store: InboxStore
    ref: JobRef
    fence: int
    _kept: list[bytes] = field(default_factory=list)
    _first: int = 0

    def keep(self, outcomes: list[dict[str, Any]]) -> None:
        """Store a slice's outcomes with the block's earlier ones; `done` confirms them.

        A repeated call replaces the stored outcomes.
        """
        if not outcomes:
            return
        if not self._kept:
            self._first = outcomes[0]["line"]
        body = b"".join([*self._kept, *map(_text, outcomes)])
        self.store.keep(f"{_prefix(self.ref, self.fence)}{self._first:08d}.ndjson", body)

    def done(self, outcomes: list[dict[str, Any]]) -> None:
        """Confirm the slice's outcomes after its crawls were created."""
        self._kept += map(_text, outcomes)
        if len(self._kept) >= limits.INBOX_BLOCK_LINES:
            self._kept = []


def joined(store: InboxStore, ref: JobRef, place: FileCursor) -> Iterator[bytes]:
    """Yield the outcomes of all read lines in order, several lines at a time."""
    if not place.claims:
        return
    ends = [*(first for _, first in place.claims[1:]), place.line]
    for (fence, first), end in zip(place.claims, ends, strict=True):
        for body in store.kept(_prefix(ref, fence)):
            yield b"".join(
                line
                for line in body.splitlines(keepends=True)
                if first <= json.loads(line)["line"] < end
            )


def _text(outcome: dict[str, Any]) -> bytes:
    return json.dumps(outcome, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _prefix(ref: JobRef, fence: int) -> str:
    return f"parts/T/{ref.tenant}/{ref.job_id}/{fence:08d}/"

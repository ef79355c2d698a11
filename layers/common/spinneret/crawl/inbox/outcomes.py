"""What became of each line of a file: kept in blocks while it is read, then joined to its report.

A block is stored before the crawls that it names are made, under the fence of the claim that makes
them; the cursor, which moves in the same write as they are made, says which lines are whose. So a
block of a claim that died, or was overtaken, names nothing that isn't there: its last lines are
left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from spinneret.crawl.inbox.ports import InboxStore
from spinneret.jobs.models import JobRef
from spinneret.kernel import bounds


@dataclass(frozen=True, kw_only=True)
class FileCursor:
    """Where reading goes on; as text, the cursor of the file's job."""

    line: int = 1
    offset: int = 0
    claims: tuple[tuple[int, int], ...] = ()
    """(fence, first line) of the claims that have read so far, in their order."""

    @classmethod
    def of(cls, cursor: str) -> FileCursor:
        """By the cursor; an empty one is the beginning."""
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
        """The inverse of `of`."""
        claims = ",".join(f"{fence}@{first}" for fence, first in self.claims)
        return f"{self.line}:{self.offset}:{claims}"

    def moved(self, fence: int, line: int, offset: int) -> FileCursor:
        """After the claim of this fence has read up to, not including, this line."""
        claims = self.claims
        if not claims or claims[-1][0] != fence:
            claims = (*claims, (fence, self.line))
        return FileCursor(line=line, offset=offset, claims=claims)


@dataclass
class Block:
    """The outcomes that one claim keeps in one object after another."""

    store: InboxStore
    ref: JobRef
    fence: int
    _kept: list[bytes] = field(default_factory=list)
    _first: int = 0

    def keep(self, outcomes: list[dict[str, Any]]) -> None:
        """Store the outcomes of a slice with those before; `done` makes them stay.

        Called again, it replaces what it stored.
        """
        if not outcomes:
            return
        if not self._kept:
            self._first = outcomes[0]["line"]
        body = b"".join([*self._kept, *map(_text, outcomes)])
        self.store.keep(f"{_prefix(self.ref, self.fence)}{self._first:08d}.ndjson", body)

    def done(self, outcomes: list[dict[str, Any]]) -> None:
        """The slice's crawls exist."""
        self._kept += map(_text, outcomes)
        if len(self._kept) >= bounds.INBOX_BLOCK_LINES:
            self._kept = []


def joined(store: InboxStore, ref: JobRef, place: FileCursor) -> Iterator[bytes]:
    """The outcomes of all lines that were read, in their order, some lines at a time."""
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

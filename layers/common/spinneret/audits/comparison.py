"""Comparison of two runs of an audit."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

Key = tuple[str, str]
"""A check and the URL of the page that failed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Changes between an earlier run and this one; keys are sorted."""

    score_before: float
    score_after: float
    new: tuple[Key, ...]
    fixed: tuple[Key, ...]
    still: tuple[Key, ...]
    not_seen: tuple[Key, ...]
    """Issues of pages that this run didn't visit: neither fixed nor confirmed."""
    catalogue_changed: bool = False
    """The runs had different catalogues: some differences may come from changed checks."""

    @property
    def change(self) -> float:
        """Points gained; negative if points were lost."""
        return round(self.score_after - self.score_before, 4)


def compare(
    before: Iterable[Key],
    after: Iterable[Key],
    *,
    visited: Collection[str],
    score_before: float,
    score_after: float,
    versions: tuple[str, str],
) -> RunComparison:
    """Compare the issues of two runs.

    `visited` contains the URLs with facts in the later run, and its start page for checks of the
    site. `versions` are the catalogue versions of both runs.
    """
    earlier, later = dict.fromkeys(before), dict.fromkeys(after)
    gone = [key for key in earlier if key not in later]
    return RunComparison(
        score_before=score_before,
        score_after=score_after,
        new=tuple(sorted(key for key in later if key not in earlier)),
        fixed=tuple(sorted(key for key in gone if key[1] in visited)),
        still=tuple(sorted(key for key in later if key in earlier)),
        not_seen=tuple(sorted(key for key in gone if key[1] not in visited)),
        catalogue_changed=versions[0] != versions[1],
    )

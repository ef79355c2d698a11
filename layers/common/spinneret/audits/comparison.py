"""Comparison of two runs of an audit."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from spinneret.audits.checks.catalogue import by_id
from spinneret.audits.checks.models import CheckScope
from spinneret.audits.findings import Finding

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
    unchecked: tuple[Key, ...] = ()
    """Issues of visited pages that this run couldn't judge: neither fixed nor confirmed."""
    catalogue_changed: bool = False
    """The runs had different catalogues: some differences may come from changed checks."""

    @property
    def change(self) -> float:
        """Points gained; negative if points were lost."""
        return round(self.score_after - self.score_before, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Extent of a run: what it can say about issues of an earlier one."""

    visited: Collection[str]
    """URLs with facts, and the start page for checks of the site."""
    unchecked: Collection[Key] = ()
    """Checks that couldn't be judged."""
    unasked: Collection[str] = ()
    """URLs that its pages name and whose answers are unknown."""
    checks: Collection[str] | None = None
    """Ids of its catalogue; None for one that has all checks."""
    start_url: str | None = None
    """URL of its issues of the whole site; None if the earlier run had the same."""

    def matched(self, former: Finding) -> Finding:
        """Return a former issue under this run's URL: one of the site isn't another one if the
        runs begin at different pages."""
        check = by_id().get(former.check)
        if self.start_url is None or check is None or check.scope is not CheckScope.SITE:
            return former
        return replace(former, url=self.start_url)

    def is_unchecked(self, former: Finding) -> bool:
        """Return whether a former issue may persist unseen on a visited page."""
        if former.key in self.unchecked:
            return True
        if self.checks is not None and former.check not in self.checks:
            return True
        named = [url for each in former.evidence for url in (each.url, each.value) if url]
        if any(url in self.unasked for url in named):
            return True
        return former.count > len(former.evidence) and bool(self.unasked)


def compare(
    before: Iterable[Finding],
    after: Iterable[Key],
    *,
    known: Known,
    score_before: float,
    score_after: float,
    versions: tuple[str, str],
) -> RunComparison:
    """Compare the issues of two runs; `versions` are the catalogue versions of both."""
    later = frozenset(after)
    still: set[Key] = set()
    fixed: set[Key] = set()
    not_seen: set[Key] = set()
    unchecked: set[Key] = set()
    for finding in map(known.matched, before):
        if finding.key in later:
            still.add(finding.key)
        elif finding.url not in known.visited:
            not_seen.add(finding.key)
        elif known.is_unchecked(finding):
            unchecked.add(finding.key)
        else:
            fixed.add(finding.key)
    return RunComparison(
        score_before=score_before,
        score_after=score_after,
        new=tuple(sorted(later - still)),
        fixed=tuple(sorted(fixed)),
        still=tuple(sorted(still)),
        not_seen=tuple(sorted(not_seen)),
        unchecked=tuple(sorted(unchecked)),
        catalogue_changed=versions[0] != versions[1],
    )

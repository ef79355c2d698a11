"""The score, by a published formula (docs/audits.md).

A failed check costs its weight, divided by the total weight of all checks of a page, applicable or
not. A page that couldn't be read earns nothing. The site's own checks count the same way:

    score = 100 x (0.85 x mean of the pages' shares + 0.15 x share of the site's checks)
    share = 1 - weights of failed checks / weights of all checks

A check that doesn't apply, or can't be judged while another one fails, costs nothing. The divisor
is constant, so fixing a check gains exactly its weight: on any page, with any other failures.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import Category, Check, CheckScope

FORMULA_VERSION: Final = "2"
PAGES_SHARE: Final = 0.85
SITE_SHARE: Final = 1 - PAGES_SHARE
"""Own choice: by number, the site's 15 checks would weigh a twelfth of a page's; each is fixed
once."""

_DECIMALS: Final = 4  # one light issue of one page among 2,000 remains visible


@dataclass(slots=True)
class CheckBitmap:
    """Results of the checks of one page or of the site: sets of check numbers as bits."""

    applicable: int = 0
    """Includes failed and blocked checks."""
    failed: int = 0
    blocked: int = 0
    """Checks that can't be judged, as a prerequisite failed or is itself blocked."""
    moot: int = 0
    """Blocked checks of something that the page lacks altogether: they block no others."""
    hidden: int = 0
    """Failed or blocked checks that the request turned off: they block others, and cost nothing."""
    is_read: bool = True
    """False for a page without a readable response: it earns nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStats:
    """Numbers of pages by result of one check; for checks of the site, 0 or 1."""

    applicable: int = 0
    failed: int = 0
    blocked: int = 0
    points: float = 0.0
    """Gain of the score if all these issues are fixed, and no others."""

    @property
    def passed(self) -> int:
        """Number that neither failed nor was blocked."""
        return self.applicable - self.failed - self.blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Score of an audit, from 0 to 100."""

    total: float
    categories: Mapping[Category, float | None]
    """None if no check of the category applies, or it has no weight."""
    tallies: Mapping[str, CheckStats]
    pages: Sequence[float]
    """Score of each page, in input order."""


def score(pages: Iterable[CheckBitmap], site: CheckBitmap) -> Score:
    """Return the score from the marks of pages (HTML, or failed requests for pages) and site."""
    sums = _Sums()
    for page in pages:
        sums.add_page(page)
    return sums.score(site)


def cost(check: Check[Any]) -> float:
    """Return the share of a page, or of the site's checks, that the failed check costs."""
    of_pages, of_site = _totals()
    return check.weight / (of_site if check.scope is CheckScope.SITE else of_pages)


@dataclass(slots=True)
class _Part:
    """Sums of pages' shares in one category."""

    shares: float = 0.0
    pages: int = 0


@dataclass(slots=True)
class _Sums:
    shares: list[float] = field(default_factory=list)
    unread: int = 0
    parts: dict[Category, _Part] = field(default_factory=lambda: defaultdict(_Part))
    applicable: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    failed: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    blocked: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    gains: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def add_page(self, page: CheckBitmap) -> None:
        self._count(page)
        if not page.is_read:
            self.unread += 1
            self.shares.append(0.0)
            causes = list(_bits(page.failed))
            if len(causes) == 1:
                self.gains[causes[0]] += 1.0
            return
        self.shares.append(1 - _lost(page))
        for number in _bits(page.failed):
            self.gains[number] += cost(catalogue()[number])
        earned, possible = _by_category(page)
        for category, weight in possible.items():
            if weight:
                part = self.parts[category]
                part.shares += earned[category] / weight
                part.pages += 1

    def score(self, site: CheckBitmap) -> Score:
        pages = len(self.shares)
        self._count(site)
        per_page = PAGES_SHARE / pages if pages else 0.0
        points = {number: gain * per_page for number, gain in self.gains.items()}
        for number in _bits(site.failed):
            points[number] = SITE_SHARE * cost(catalogue()[number])
        earned, possible = _by_category(site)
        return Score(
            total=_percent(sum(self.shares) * per_page + SITE_SHARE * (1 - _lost(site))),
            categories={
                category: self._category(category, earned, possible) for category in Category
            },
            tallies={
                check.id: CheckStats(
                    applicable=self.applicable[number],
                    failed=self.failed[number],
                    blocked=self.blocked[number],
                    points=_percent(points.get(number, 0.0)),
                )
                for number, check in enumerate(catalogue())
            },
            pages=[_percent(share) for share in self.shares],
        )

    def _count(self, marks: CheckBitmap) -> None:
        for counts, mask in (
            (self.applicable, marks.applicable),
            (self.failed, marks.failed),
            (self.blocked, marks.blocked),
        ):
            for number in _bits(mask):
                counts[number] += 1

    def _category(
        self, category: Category, earned: Mapping[Category, int], possible: Mapping[Category, int]
    ) -> float | None:
        """Return a category's score, weighting pages and site by their checks in the catalogue."""
        by_pages, by_site = _category_weights()[category]
        part = self.parts[category]
        rated, weights = 0.0, 0
        if by_pages and (part.pages or self.unread == len(self.shares)):
            counted = part.pages + self.unread
            rated += by_pages * (part.shares / counted if counted else 0.0)
            weights += by_pages
        if possible.get(category):
            rated += by_site * earned[category] / possible[category]
            weights += by_site
        return _percent(rated / weights) if weights else None


def _lost(marks: CheckBitmap) -> float:
    """Return the share that the failed checks cost."""
    return sum(cost(catalogue()[number]) for number in _bits(marks.failed))


def _by_category(marks: CheckBitmap) -> tuple[dict[Category, int], dict[Category, int]]:
    """Return the weights earned and the weights possible by category, of judged checks only."""
    earned: dict[Category, int] = defaultdict(int)
    possible: dict[Category, int] = defaultdict(int)
    for number in _bits(marks.applicable & ~marks.blocked):
        check = catalogue()[number]
        possible[check.category] += check.weight
        if not marks.failed >> number & 1:
            earned[check.category] += check.weight
    return earned, possible


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _percent(share: float) -> float:
    return round(100 * share, _DECIMALS)


@cache
def _totals() -> tuple[int, int]:
    """Return the total weights of the checks of pages and of the site."""
    of_site = sum(check.weight for check in catalogue() if check.scope is CheckScope.SITE)
    return sum(check.weight for check in catalogue()) - of_site, of_site


@cache
def _category_weights() -> dict[Category, tuple[int, int]]:
    """Return by category the weights of the checks of pages and of the site."""
    weights = dict.fromkeys(Category, (0, 0))
    for check in catalogue():
        pages, site = weights[check.category]
        if check.scope is CheckScope.SITE:
            weights[check.category] = (pages, site + check.weight)
        else:
            weights[check.category] = (pages + check.weight, site)
    return weights

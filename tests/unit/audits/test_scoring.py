"""The score: its bounds, and that fixing a check gains exactly the weight of the check."""

import io
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.audits import checks
from spinneret.audits.checks.catalogue import catalogue, numbers
from spinneret.audits.checks.models import WEIGHTS, Category, Check, CheckScope, Severity
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import AuditEvaluator
from spinneret.audits.scoring import PAGES_SHARE, SITE_SHARE, CheckBitmap, cost, score
from tests.sampling import sampled
from tests.unit.audits import broken
from tests.unit.audits.site import good_site_facts

CHECKS = catalogue()
OF_PAGES = [number for number, check in enumerate(CHECKS) if check.scope is not CheckScope.SITE]
OF_SITE = [number for number, check in enumerate(CHECKS) if check.scope is CheckScope.SITE]
BEFORE = [frozenset(numbers()[name] for name in check.after) for check in CHECKS]


def bits(*names: str) -> int:
    return sum(1 << numbers()[name] for name in names)


def marks(applies: set[int], fails: set[int], lost_elsewhere: int = 0) -> CheckBitmap:
    """Return the marks that an audit sets: a check after a failed or blocked one is blocked."""
    found = CheckBitmap()
    for number in sorted(applies):
        bit = 1 << number
        lost = found.failed | found.blocked | lost_elsewhere
        found.applicable |= bit
        if any(lost >> before & 1 for before in BEFORE[number]):
            found.blocked |= bit
        elif number in fails:
            found.failed |= bit
    return found


def state_of(numbers_of_checks: Sequence[int]) -> st.SearchStrategy[tuple[set[int], set[int]]]:
    some = st.sets(st.sampled_from(numbers_of_checks))
    return st.tuples(some, some)


def with_blocked(applies: set[int], fails: set[int], elsewhere: int = 0) -> CheckBitmap:
    """Return marks in which each check after a failed one is blocked, applicable or not."""
    lost = fails & applies | {n for n in range(len(CHECKS)) if elsewhere >> n & 1}
    everything = set(applies)
    for number in range(len(CHECKS)):
        if BEFORE[number] & lost and (number in OF_PAGES) == (applies <= set(OF_PAGES)):
            everything.add(number)
            lost.add(number)
    return marks(everything, fails, elsewhere)


def test_prerequisites_come_first_and_can_be_known_in_time() -> None:
    scopes = [check.scope for check in CHECKS]
    for number, check in enumerate(CHECKS):
        assert all(before < number for before in BEFORE[number]), check.id
        allowed = {
            CheckScope.PAGE: {CheckScope.PAGE},
            CheckScope.PAGE_IN_SITE: set(CheckScope),
            CheckScope.SITE: {CheckScope.SITE},
        }[check.scope]
        assert {scopes[before] for before in BEFORE[number]} <= allowed, check.id


def written_checks() -> list[Check[Any]]:
    """Return every check of every module of checks, even if the catalogue omits the module."""
    names = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    modules = [import_module(f"{checks.__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values()]
    return list({id(value): value for value in found if isinstance(value, Check)}.values())


def test_the_catalogue_has_every_written_check_once() -> None:
    assert sorted(check.id for check in CHECKS) == sorted(check.id for check in written_checks())


#
def test_the_catalogue_is_whole() -> None:
    assert len(CHECKS) >= 120
    for check in CHECKS:
        assert check.title
        assert check.advice.endswith(".")
        assert check.source.startswith("https://")
        assert (check.weight == 0) == (check.severity is Severity.INFO)
        assert check.weight <= 10 or check.category is Category.INDEXABILITY
    assert {check.category for check in CHECKS} == set(Category)
    assert list(WEIGHTS) == list(Severity)


def test_noindex_alone_costs_at_least_31_percent() -> None:
    page = marks(set(OF_PAGES), {numbers()["index.noindex"]})
    assert score([page], marks(set(OF_SITE), set())).total <= 69


def test_nothing_wrong_is_100_and_everything_wrong_is_an_f() -> None:
    """A check that can't be judged costs nothing, so a page that was read never scores 0."""
    good = score([marks(set(OF_PAGES), set())], marks(set(OF_SITE), set()))
    bad = score([marks(set(OF_PAGES), set(OF_PAGES))], marks(set(OF_SITE), set(OF_SITE)))
    assert good.total == 100
    assert set(good.categories.values()) == {100, None}
    assert bad.total < 40
    assert set(bad.categories.values()) == {0, None}


def test_what_does_not_apply_costs_nothing() -> None:
    h1, lang = numbers()["h1.missing"], numbers()["lang.missing"]
    page = marks({h1, lang}, {h1})
    assert score([page], CheckBitmap()).pages == [round(100 - 100 * cost(CHECKS[h1]), 4)]


def test_where_only_information_applies_nothing_is_lost() -> None:
    info = numbers()["agents.llms_txt"]
    found = score([marks(set(), set())], marks({info}, {info}))
    assert (found.total, found.tallies["agents.llms_txt"].points) == (100, 0)


def test_a_site_without_any_page_earns_only_what_its_own_checks_earn() -> None:
    assert score([], marks(set(OF_SITE), set())).total == round(100 * SITE_SHARE, 4)


def test_a_page_that_was_not_read_earns_nothing_and_its_mending_a_whole_page() -> None:
    good = marks(set(OF_PAGES), set())
    gone = CheckBitmap(applicable=bits("http.4xx"), failed=bits("http.4xx"), is_read=False)
    found = score([good, good, good, gone], marks(set(OF_SITE), set()))
    assert found.total == round(100 - 100 * PAGES_SHARE / 4, 4)
    assert found.tallies["http.4xx"].points == round(100 * PAGES_SHARE / 4, 4)
    assert found.categories[Category.METADATA] == 75


def test_points_are_what_the_score_gains() -> None:
    h1, title = numbers()["h1.missing"], numbers()["title.missing"]
    pages = [marks(set(OF_PAGES), {h1, title}), marks(set(OF_PAGES), {h1})]
    site = marks(set(OF_SITE), set())
    found = score(pages, site)
    mended = score([marks(set(OF_PAGES), {title}), marks(set(OF_PAGES), set())], site)
    gained = mended.total - found.total
    assert found.tallies["h1.missing"].points == pytest.approx(gained, abs=0.0002)
    blocked = [check.id for check in CHECKS if "h1.missing" in check.after]
    assert {found.tallies[name].blocked for name in blocked} == {2}


def test_a_check_of_the_site_returns_its_own_weight() -> None:
    missing = numbers()["sitemap.missing"]
    site = marks(set(OF_SITE), {missing})
    page = marks(set(OF_PAGES), set(), site.failed | site.blocked)
    found = score([page], site)
    assert found.tallies["sitemap.coverage"].blocked == 1
    mended = score([marks(set(OF_PAGES), set())], marks(set(OF_SITE), set()))
    assert found.tallies["sitemap.missing"].points == pytest.approx(
        mended.total - found.total, abs=0.0002
    )


@given(
    pages=st.lists(state_of(OF_PAGES), min_size=1, max_size=4),
    site=state_of(OF_SITE),
    data=st.data(),
)
def test_mending_a_check_gains_exactly_its_weight_whatever_else_fails(
    pages: list[tuple[set[int], set[int]]], site: tuple[set[int], set[int]], data: st.DataObject
) -> None:
    """Formerly blocked checks then pass or don't apply, in any combination."""
    of_site = with_blocked(*site)
    lost = of_site.failed | of_site.blocked
    before = [with_blocked(*page, lost) for page in pages]
    first = score(before, of_site)
    assert 0 <= first.total <= 100

    index = data.draw(st.integers(0, len(pages) - 1))
    failing = [n for n in OF_PAGES if before[index].failed >> n & 1]
    if not failing:
        return
    mended = data.draw(st.sampled_from(failing))
    applies, _ = pages[index]
    blocked = {n for n in OF_PAGES if before[index].blocked >> n & 1}
    now_applies = data.draw(st.sets(st.sampled_from(sorted(blocked)))) if blocked else set()
    still = {n for n in failing if n != mended}
    page = with_blocked((applies - blocked) | now_applies, still, lost)
    after = score([*before[:index], page, *before[index + 1 :]], of_site)
    gain = 100 * PAGES_SHARE * cost(CHECKS[mended]) / len(pages)
    assert after.total - first.total == pytest.approx(gain, abs=0.0002)
    assert after.pages[index] - first.pages[index] == pytest.approx(
        100 * cost(CHECKS[mended]), abs=0.0002
    )


FAULTS: dict[str, dict[str, Any]] = {
    "title.missing": {"title": None},
    "viewport.missing": {"viewport": None},
    "h1.missing": {"h1": None},
    "desc.missing": {"description": None},
    "canonical.missing": {"canonical": None},
    "lang.missing": {"lang": None},
    "social.og": {"social": None},
    "content.thin": {"words": 100},
    "doctype": {"doctype": ""},
    "sec.https": {"host": "http://shop.example"},
}
"""Faults of a page, by the check that finds them; several faults block many other checks."""


def test_mending_a_real_page_gains_in_the_order_of_the_weights() -> None:
    everything = {name: value for fault in FAULTS.values() for name, value in fault.items()}
    wrong = _page_score(everything)
    gains = {
        check: _page_score({k: v for k, v in everything.items() if k not in fault}) - wrong
        for check, fault in FAULTS.items()
    }
    weights = {check.id: check.weight for check in CHECKS if check.id in FAULTS}
    for check, gain in gains.items():
        assert gain == pytest.approx(100 * cost(CHECKS[numbers()[check]]), abs=0.0002), check
    assert sorted(gains, key=lambda check: round(gains[check], 3)) == sorted(
        gains, key=lambda check: weights[check]
    )


def _page_score(parts: dict[str, Any]) -> float:
    """Return the score of the page alone, on the good site."""
    audit = AuditEvaluator(f"{broken.HOST}/", FindingLog(io.BytesIO()).add)
    for facts in replace(broken.Page(path="/elm"), **parts).facts():
        audit.page(facts)
    [found] = audit.finish(replace(good_site_facts(), is_whole=False, sitemaps=())).score.pages
    return found


@given(st.lists(state_of(OF_PAGES), max_size=3), state_of(OF_PAGES), st.sampled_from(OF_PAGES))
def test_a_page_that_can_be_read_again_never_lowers_the_score(
    pages: list[tuple[set[int], set[int]]], page: tuple[set[int], set[int]], cause: int
) -> None:
    site = marks(set(OF_SITE), set())
    others = [with_blocked(*each) for each in pages]
    gone = CheckBitmap(applicable=1 << cause, failed=1 << cause, is_read=False)
    before, after = score([*others, gone], site), score([*others, with_blocked(*page)], site)
    assert after.total >= before.total


ELSEWHERE = {"links.orphan", "links.depth", "sitemap.coverage", "index.blocked"}
"""Checks whose issues can't be fixed on the page itself."""
BROKEN = [each for each in broken.PAGES if each.checks - ELSEWHERE]


@pytest.fixture(scope="module")
def broken_total() -> float:
    return _total(broken.facts())


@pytest.mark.parametrize("index", sampled(range(0, len(BROKEN), 5), tested=8))
@pytest.mark.heavy
def test_mending_a_page_of_the_broken_site_raises_its_score(
    index: int, broken_total: float
) -> None:
    """The test replaces the page by a good one at the same address."""
    path = BROKEN[index].page.path
    pages = (broken.Page(path=path) if page.path == path else page for page in broken.pages())
    assert _total([each for page in pages for each in page.facts()]) > broken_total


def _total(facts: Sequence[broken.PageFacts]) -> float:
    audit = AuditEvaluator(f"{broken.HOST}/", FindingLog(io.BytesIO()).add)
    for page in facts:
        audit.page(page)
    return audit.finish(broken.site_facts()).score.total

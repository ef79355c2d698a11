"""All checks, each after its prerequisites. The other modules of this package declare them."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final

from spinneret.audits.checks.models import Category, Check, CheckScope, Severity
from spinneret.kernel.canonical import fingerprint

_JUDGEMENT: Final = "6"
"""Incremented when a check finds something else than before, such as by another threshold."""

IN_A_BROWSER: Final = {
    "First Contentful Paint (1.8 s good, 3.0 s poor)": "a lab figure of `render`",
    "Largest Contentful Paint (2.5 s, 4.0 s)": "a lab figure of `render`",
    "Cumulative Layout Shift (0.1, 0.25)": "a lab figure of `render`",
    "Total Blocking Time (200 ms, 600 ms)": "isn't measured; has to time the page's scripts",
    "Speed Index (3.4 s, 5.8 s)": "isn't measured; has to film the page while it loads",
    "text and links hidden by style sheets or scripts": "needs computed styles, also with "
    "`render`; `content.hidden` and `img.dimensions` read inline styles and attributes only",
    "content, links and metadata that scripts add": "judged with `render` only; without it all "
    "checks judge what the server sends, as search engines first see it",
}
"""Measures that no check judges, or only in a browser, with the reason."""


@cache
def catalogue() -> tuple[Check[Any], ...]:
    """Return all checks, each after its prerequisites."""
    checks = {check.id: check for check in _declared()}
    ordered: dict[str, Check[Any]] = {}

    def place(check: Check[Any]) -> None:
        for name in check.after:
            place(checks[name])
        ordered.setdefault(check.id, check)

    for check in checks.values():
        place(check)
    return tuple(ordered.values())


@cache
def version() -> str:
    """Return the version of the catalogue, which results store. Each new check changes it."""
    declared = [
        [each.id, each.severity, each.weight, each.category, each.scope, each.after]
        for each in catalogue()
    ]
    return f"{_JUDGEMENT}.{fingerprint(declared)[:8]}"


@cache
def numbers() -> dict[str, int]:
    """Return the position of each check in the catalogue."""
    return {check.id: number for number, check in enumerate(catalogue())}


@cache
def by_id() -> dict[str, Check[Any]]:
    """Return the checks by their ids."""
    return {check.id: check for check in catalogue()}


def by_scope(scope: CheckScope) -> tuple[Check[Any], ...]:
    """Return the checks of one scope, in the catalogue's order."""
    return tuple(check for check in catalogue() if check.scope is scope)


def ranked(checks: Iterable[Check[Any]]) -> list[Check[Any]]:
    """Return checks in the order of reports: severity, then category, then weight."""
    severities, categories = list(Severity), list(Category)
    return sorted(
        checks,
        key=lambda check: (
            severities.index(check.severity),
            categories.index(check.category),
            -check.weight,
        ),
    )


def _declared() -> Iterator[Check[Any]]:
    for module in iter_modules([str(Path(__file__).parent)]):
        names = vars(import_module(f"{__package__}.{module.name}"))
        yield from (value for value in names.values() if isinstance(value, Check))

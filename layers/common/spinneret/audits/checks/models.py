"""What a check is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from spinneret.audits.facts.models import Kind


class Severity(StrEnum):
    """How much an issue matters; in order."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


WEIGHTS: Final = {
    Severity.CRITICAL: 10,
    Severity.HIGH: 7,
    Severity.MEDIUM: 4,
    Severity.LOW: 2,
    Severity.INFO: 0,
}
"""Of a check, unless it says otherwise; squirrelscan's weights are of the same size (1 to 10)."""


class Category(StrEnum):
    """Groups that are scored by themselves; in the order of reports."""

    INDEXABILITY = "indexability"
    HTTP = "http"
    ROBOTS = "robots"
    SITEMAPS = "sitemaps"
    CANONICAL = "canonical"
    METADATA = "metadata"
    STRUCTURE = "structure"
    CONTENT = "content"
    HREFLANG = "hreflang"
    LINKS = "links"
    IMAGES = "images"
    STRUCTURED_DATA = "structured_data"
    SOCIAL = "social"
    SECURITY = "security"
    URLS = "urls"
    AGENTS = "agents"


class CheckScope(StrEnum):
    """What one answer of a check is about, and what it looks at."""

    PAGE = "page"
    """A page by its own facts."""
    PAGE_IN_SITE = "page_in_site"
    """A page by its facts and those of other pages."""
    SITE = "site"


class Evidence(NamedTuple):
    """Where something is wrong, what stands there, and what should."""

    where: str
    """A selector, `header: name`, or what else names the place."""
    value: str = ""
    threshold: str = ""
    """The bound that is passed, or the value that is expected; empty where the title says it."""
    url: str = ""
    """Where that isn't the page itself: a link's target, the other page."""


Answer = Sequence[Evidence] | None
"""None where the check doesn't apply, nothing where it is passed."""


@dataclass(frozen=True, kw_only=True)
class Check[Judge: Callable[..., Answer]]:
    """One entry of the catalogue."""

    id: str
    title: str
    """The issue, as a list of issues names it."""
    advice: str
    source: str
    """A page that explains the rule."""
    severity: Severity
    weight: int
    category: Category
    scope: CheckScope
    after: tuple[str, ...]
    """Where one of these fails, this can't be judged and counts as failed, without an issue."""
    kinds: frozenset[Kind]
    """Of which pages it is asked at all."""
    judge: Judge
    """Looks neither at kinds nor at prerequisites."""

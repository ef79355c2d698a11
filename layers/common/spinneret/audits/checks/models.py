"""Checks and their results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, Literal, NamedTuple

from spinneret.audits.facts.models import PageKind


class Severity(StrEnum):
    """Severity of an issue, in descending order."""

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
"""Default weights of checks; squirrelscan's weights have the same range (1 to 10)."""


class Category(StrEnum):
    """Groups of checks with separate scores, in report order."""

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
    """Subject of a check, and the data that it uses."""

    PAGE = "page"
    """One page, by its own facts."""
    PAGE_IN_SITE = "page_in_site"
    """One page, by its facts and other pages' facts."""
    SITE = "site"


class Evidence(NamedTuple):
    """Location of a fault, the value found there, and the expected value."""

    where: str
    """A selector, `header: name`, or another name of the location."""
    value: str = ""
    threshold: str = ""
    """The exceeded bound or the expected value; empty if the title states it."""
    url: str = ""
    """Another URL involved: a link's target, the other page."""


class Unknown(Enum):
    """Answer of a check that lacks the facts to judge; it weighs nothing, like None."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        return False


UNKNOWN: Final = Unknown.UNKNOWN

Answer = Sequence[Evidence] | Literal[Unknown.UNKNOWN] | None
"""None if the check doesn't apply; empty if it is passed."""


@dataclass(frozen=True, kw_only=True)
class Check[Judge: Callable[..., Answer]]:
    """One entry of the catalogue."""

    id: str
    title: str
    """Name of the issue, as used in lists of issues."""
    advice: str
    source: str
    """URL of a page that explains the rule."""
    severity: Severity
    weight: int
    category: Category
    scope: CheckScope
    after: tuple[str, ...]
    """Prerequisites: if one fails, this check isn't judged and costs nothing."""
    kinds: frozenset[PageKind]
    """Kinds of pages that it applies to."""
    judge: Judge
    """Function that judges a page; it ignores kinds and prerequisites."""

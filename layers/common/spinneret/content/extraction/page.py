"""Input and output of extraction engines: a page's source, tree and text, and a choice of runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from lxml import etree, html

from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.runs import Run, runs
from spinneret.content.extraction.structured_data import StructuredData


@dataclass(frozen=True, kw_only=True)
class ParsedPage:
    """A parsed page; engines don't modify its tree."""

    text: str
    url: str
    root: html.HtmlElement
    body: html.HtmlElement
    data: StructuredData
    og_type: str
    """Lower case; empty if undeclared."""

    @cached_property
    def runs(self) -> list[Run]:
        """Runs of the body."""
        return list(runs(self.body))

    @cached_property
    def words(self) -> list[str]:
        """Words of all runs."""
        return [word for run in self.runs for word in run.words]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One engine's choice of the main content."""

    chosen: Sequence[bool]
    """One flag per run of the page; empty if none of the engine's text was found in the page."""
    left_out: frozenset[etree._Element] = frozenset()
    """Elements within lines to skip regardless of the choice, such as skip links."""
    page_type: PageType | None = None
    """None if the engine doesn't classify pages."""


Engine = Callable[[ParsedPage], Choice | None]
"""Returns None for pages that the engine can't process."""


class TypedEngine(Protocol):
    """An engine that depends on the page's type."""

    def __call__(
        self, page: ParsedPage, page_type: PageType | None, /, *, is_quick: bool
    ) -> Choice | None:
        """Return None for pages that the engine can't process. `is_quick` omits its fallbacks,
        which take half of its time."""

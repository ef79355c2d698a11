"""Input and output of extraction engines: a page's source, tree and text, and a choice of runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from lxml import etree, html

from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.runs import Run, runs
from spinneret.content.extraction.structured_data import StructuredData

MAX_ELEMENTS: Final = 12_000
"""Some passes of trafilatura aren't linear: this many elements take it 1.5 s. The largest of 410
labelled pages has 10,100."""
MAX_CHARS: Final = 300_000
"""Text of five times the longest of 410 labelled pages. Finding the words that an engine returned
takes a second for a million."""
MAX_DEPTH: Final = 200  # trafilatura recurses; rs-trafilatura is quadratic (10,000 levels: 26 s)
MAX_SOURCE_CHARS: Final = 5_000_000
MAX_TAGS: Final = 100_000
"""Limit of the source, since malformed markup may hide content from the tree. This many tags take
rs-trafilatura one second of processor time."""

_has_many_elements: Final = etree.XPath(f"count(//*) > {MAX_ELEMENTS}")
_has_deep_element: Final = etree.XPath(f"boolean({'/*' * (MAX_DEPTH + 1)})")


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

    @cached_property
    def is_bounded(self) -> bool:
        """Whether the page is small enough for engines that can't be interrupted."""
        if len(self.text) > MAX_SOURCE_CHARS or self.text.count("<") > MAX_TAGS:
            return False
        if _has_many_elements(self.root) or _has_deep_element(self.root):
            return False
        shown = (each for each in self.root.iter() if each.tag not in ("script", "style"))
        return sum(len(each.text or "") + len(each.tail or "") for each in shown) <= MAX_CHARS


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

"""A page as the engines see it: its source, its tree and its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lxml import etree, html

from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.runs import Run, runs
from spinneret.content.extraction.structured_data import StructuredData


@dataclass(frozen=True, kw_only=True)
class Page:
    """A parsed page; engines leave its tree as it is."""

    text: str
    url: str
    root: html.HtmlElement
    body: html.HtmlElement
    data: StructuredData
    og_type: str
    """Lower case, empty where the page has none."""

    @cached_property
    def runs(self) -> list[Run]:
        """The runs of the body."""
        return list(runs(self.body))

    @cached_property
    def words(self) -> list[str]:
        """The words of all runs."""
        return [word for run in self.runs for word in run.words]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What one engine takes for the main content."""

    chosen: Sequence[bool]
    """For each run of the page; empty where the engine has found nothing in the page's text."""
    left_out: frozenset[etree._Element] = frozenset()
    """Parts of lines to skip, whatever is chosen: links to skip a menu, and the like."""
    page_type: PageType | None = None
    """Where the engine tells types apart."""


Engine = Callable[[Page], Choice | None]
"""Answers None where it doesn't do such pages."""

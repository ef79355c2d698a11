"""Reads a page's JSON-LD (schema.org)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from lxml import html

from spinneret.kernel.unicode import storable

_MAX_NODES: Final = 10_000  # of all scripts together; large shops list some hundreds
# parts of a page with their own authors and dates
_PARTS: Final = frozenset(
    {"comment", "review", "answer", "userreview", "imageobject", "videoobject", "offer", "person"}
)
_OWN_NODES: Final = ("mainEntity", "mainEntityOfPage", "@graph")
_PRODUCTS: Final = frozenset({"product", "productgroup", "productmodel"})
_DISCUSSION: Final = "discussionforumposting"
_THREADS: Final = frozenset({_DISCUSSION, "qapage"})
_ARTICLES: Final = frozenset({"blogposting", "report", "recipe"})  # and types ending in `article`


@dataclass(frozen=True, kw_only=True)
class StructuredData:
    """First author and dates of the page's own nodes, and the types of all nodes."""

    types: frozenset[str] = frozenset()
    """Lower case, without the vocabulary's address."""
    author: str | None = None
    dates: tuple[str, ...] = ()
    """Publication dates as written, in order."""

    @property
    def is_article(self) -> bool:
        """Whether the page declares an article, recipe or similar, and isn't a forum thread."""
        return not self.is_thread and any(
            kind in _ARTICLES or kind.endswith("article") for kind in self.types
        )

    @property
    def is_product(self) -> bool:
        """Whether the page declares a product."""
        return not self.is_thread and not _PRODUCTS.isdisjoint(self.types)

    @property
    def is_discussion(self) -> bool:
        """Whether the page declares a thread of a discussion."""
        return _DISCUSSION in self.types

    @property
    def is_thread(self) -> bool:
        """Whether the page declares a forum thread or questions and answers."""
        return not _THREADS.isdisjoint(self.types)


def structured_data(root: html.HtmlElement) -> StructuredData:
    """Return the page's structured data. Skips scripts that aren't JSON, and nodes beyond the first
    10,000."""
    types: set[str] = set()
    author: str | None = None
    dates: list[str] = []
    for count, node in enumerate(_nodes(root)):
        if count == _MAX_NODES:
            break
        kinds = _types(node)
        types |= kinds
        if not _PARTS.isdisjoint(kinds):
            continue
        author = author or _name(node.get("author")) or _name(node.get("creator"))
        published = node.get("datePublished")
        if isinstance(published, str):
            dates.append(published)
    return StructuredData(types=frozenset(types), author=author, dates=tuple(dates))


def _nodes(root: html.HtmlElement) -> Iterator[dict[str, Any]]:
    """Yield all top-level nodes; nested objects such as comments aren't nodes of the page."""
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() != "application/ld+json":
            continue
        try:
            # Python refuses integers of thousands of digits, which JSON allows.
            pending: list[Any] = [json.loads(script.text or "", strict=False, parse_int=float)]
        except (json.JSONDecodeError, RecursionError):
            continue
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending.extend(reversed(value))
            elif isinstance(value, dict):
                yield value
                pending.extend(value[key] for key in _OWN_NODES if key in value)


def _types(node: dict[str, Any]) -> frozenset[str]:
    declared = node.get("@type")
    names = declared if isinstance(declared, list) else [declared]
    return frozenset(name.rpartition("/")[2].lower() for name in names if isinstance(name, str))


def _name(value: Any) -> str | None:
    """Return a name, an object's name, or the names of a list joined by commas."""
    if isinstance(value, list):
        names = [name for name in map(_name_of_one, value[:10]) if name]
        return ", ".join(dict.fromkeys(names)) or None
    return _name_of_one(value)


def _name_of_one(value: Any) -> str | None:
    name = value.get("name") if isinstance(value, dict) else value
    if not isinstance(name, str) or name.startswith(("http://", "https://")):
        return None
    return " ".join(storable(name).split()) or None

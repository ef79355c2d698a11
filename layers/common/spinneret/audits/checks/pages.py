"""Pages of a site, with only the data that other pages are compared with.

A page's facts are about 40 KB of JSON and arrive one page at a time. Each page retained here takes
about two kilobytes, mostly links as numbers.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from spinneret.audits.checks.reading import are_near, is_same, without_slash
from spinneret.audits.facts.models import Alternate, PageKind, ReadFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNode:
    """Page data that comparisons across the site need."""

    url: str
    kind: PageKind
    status: int | None = None
    failure: ReadFailure | None = None
    final_url: str = ""
    hops: int = 0
    """Number of redirects from `url` to `final_url`."""
    noindex: bool = False
    canonical: str | None = None
    title: str = ""
    description: str = ""
    h1: str = ""
    fingerprint: str = ""
    signature: str = ""
    words: int = 0
    pdf_bytes: int | None = None
    """Size of a PDF; None for other responses."""
    alternates: tuple[Alternate, ...] = ()
    modified: str = ""
    """The page's own date of its last change, as written."""
    structured: tuple[str, ...] = ()
    """Types of the items that structured data describe."""
    links: array[int]
    """Distinct internal pages that it links to, without itself: numbers of `Site.url_of`."""
    external: array[int]
    images: array[int]
    image_files: tuple[tuple[str, int], ...] = ()
    """Other images that it names, each with its place."""
    pagination: tuple[int, ...] = ()
    fragments: tuple[tuple[int, str], ...] = ()
    anchors: frozenset[int] = frozenset()
    """Hashes of the names that fragments may have; valid within this process only."""

    @property
    def is_indexable(self) -> bool:
        """Whether search engines may list the page under its own URL, ignoring a trailing slash."""
        is_own = is_same(self.canonical or self.url, self.url)
        return self.kind is PageKind.HTML and not self.noindex and is_own

    @property
    def editions(self) -> frozenset[str]:
        """URLs of the page and of its language links, without a slash at the end."""
        named = (each.url for each in self.alternates if each.url)
        return frozenset(map(without_slash, (self.url, *named)))


class SimilarPages:
    """Pages with the same title, description or text, or with nearly the same text."""

    def __init__(self, pages: Iterable[PageNode]) -> None:
        self._pages = tuple(pages)
        self._groups: dict[str, dict[str, list[str]]] = {}

    def sharing(
        self, page: PageNode, field: Literal["title", "description", "fingerprint"]
    ) -> list[str]:
        """Return URLs of other pages with the same value, ignoring case and white space.

        Pages for other regions, which the page's language links name, may have its texts.
        """
        groups = self._groups.setdefault(field, {})
        if not groups:
            for node in self._pages:
                groups.setdefault(_folded(getattr(node, field)), []).append(node.url)
        value = _folded(getattr(page, field))
        own = page.editions
        return [url for url in groups.get(value, ()) if value and without_slash(url) not in own]

    def near(self, page: PageNode) -> list[PageNode]:
        """Return the other pages whose text is nearly, but not quite, the same."""
        candidates = {
            node.url: node for band in _bands(page.signature) for node in self._by_band[band]
        }
        return [
            node
            for node in candidates.values()
            if without_slash(node.url) not in page.editions
            and node.fingerprint != page.fingerprint
            and are_near(node.signature, page.signature)
        ]

    @cached_property
    def _by_band(self) -> Mapping[tuple[int, str], list[PageNode]]:
        """Pages by parts of their signatures: near ones share at least one part."""
        found: dict[tuple[int, str], list[PageNode]] = defaultdict(list)
        for node in self._pages:
            for band in _bands(node.signature):
                found[band].append(node)
        return found


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _bands(signature: str) -> list[tuple[int, str]]:
    """Return eight parts, none for an empty one: seven different bits leave one of them equal."""
    return [(start, signature[start : start + 2]) for start in range(0, len(signature), 2)]

"""Markup of a page, with its URLs resolved, and the texts that label its elements."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from lxml import html

from spinneret.web.fetching.urls import Url, join_url

MAX_VALUE_CHARS: Final = 500
MAX_TEXT_CHARS: Final = 100
MAX_LABEL_TEXTS: Final = 1000
MAX_LABEL_CHARS: Final = 10_000
"""Maximum texts and characters, blanks included, that are read of a label."""
type Related = Sequence[tuple[set[str], html.HtmlElement]]
"""Each `link` element after its relations."""


class Markup:
    """Tree of a page; each URL is resolved once, since menus repeat them."""

    def __init__(self, root: html.HtmlElement, url: Url) -> None:
        # The content of a template is no part of the document, except in a shadow tree.
        inert = [each for each in root.iter("template") if each.get("shadowrootmode") is None]
        for template in inert:
            del template[:]
        self.root = root
        self.url = url
        body = root.find("body")
        # A frameset has no body, nor has a document that ends with its head.
        self.body = html.Element("body") if body is None else body
        self.base = url
        self._joined: dict[str, str | None] = {}
        self._label_texts: dict[str, str] = {}
        base = next((each.get("href") for each in root.iter("base") if each.get("href")), None)
        if base:
            self.base = join_url(url, base) or url
        self.origin = replace(self.base, path="/", query="")

    def resolved(self, href: str) -> str | None:
        """Return the absolute URL; None if it is no web URL."""
        href = href.strip()
        if href not in self._joined:
            rooted = href.startswith(("/", "http://", "https://"))
            self._joined[href] = _joined(self.origin if rooted else self.base, href)
        return self._joined[href]

    def labels(self, element: html.HtmlElement) -> str:
        """Return the text of the elements that label this one."""
        names = (element.get("aria-labelledby") or "").split()[:5]
        return squeezed(" ".join(map(self._label, names)))[:MAX_TEXT_CHARS]

    def _label(self, name: str) -> str:
        """Return the text of the first element with an id, which is read once."""
        if name not in self._label_texts:
            labelling = self._by_id.get(name)
            texts = iter(()) if labelling is None else labelling.itertext()
            text = squeezed("".join(islice(texts, MAX_LABEL_TEXTS))[:MAX_LABEL_CHARS])
            self._label_texts[name] = text
        return self._label_texts[name]

    @cached_property
    def _by_id(self) -> dict[str, html.HtmlElement]:
        """The first element with each id."""
        return {each.get("id"): each for each in reversed(self.root.xpath("//*[@id]"))}


@lru_cache(maxsize=20_000)  # menus repeat on every page of a site
def _joined(base: Url, href: str) -> str | None:
    target = join_url(base, href) if href else None
    return target.text if target else None


def relations_of(element: html.HtmlElement) -> set[str]:
    """Return the values of `rel` in lower case."""
    return set((element.get("rel") or "").lower().split())


def squeezed(text: str) -> str:
    """Return a text with single blanks and its stored length."""
    return " ".join(text.split())[:MAX_VALUE_CHARS]

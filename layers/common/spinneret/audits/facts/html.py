"""Facts of a page's markup, read in a few passes over its tree."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from lxml import html

from spinneret.audits.facts.links import links_of
from spinneret.audits.facts.markup import (
    MAX_VALUE_CHARS,
    Markup,
    Related,
    relations_of,
    squeezed,
)
from spinneret.audits.facts.models import (
    INDEXERS,
    MAX_ANCHORS,
    MAX_FEW,
    MAX_LINKS,
    MODIFIED,
    Alternate,
    Canonical,
    Heading,
    HtmlFacts,
    HtmlForm,
    RobotsDirectives,
)
from spinneret.audits.facts.resources import image_files_of, images_of, insecure_urls
from spinneret.audits.facts.structured import structured_items
from spinneret.audits.facts.text import spoken_texts, text_facts
from spinneret.web.exploring.robots_tags import directives_of
from spinneret.web.fetching.urls import Url

MAX_IMAGES: Final = 1000
MAX_LEVELS: Final = 2048  # libxml2 doesn't nest deeper (content.extraction.markup)
SHALLOW: Final = 32

# Possessive: a page without a doctype would be tried in exponentially many ways. `<?xml …>` is a
# comment to browsers.
_DOCTYPE: Final = re.compile(
    r"\s*+(?:(?:<!--.*?-->|<\?[^>]*>)\s*+)*+<!doctype\s++([^>]*)>", re.IGNORECASE | re.DOTALL
)
_HEAD_ONLY_RELATIONS: Final = frozenset({"canonical", "alternate"})
# Possessive: each blank is read once.
_REFRESH: Final = re.compile(
    r"\s*+[\d.]++(?=[;,\s])\s*+[;,]?+\s*+(?:url\s*+=\s*+)?(.+)", re.IGNORECASE | re.DOTALL
)
_PREVIEWS: Final = ("og:", "twitter:", "article:", "fb:")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")


def html_facts(
    text: str,
    root: html.HtmlElement,
    url: Url,
    charset: str | None,
    headers: Iterable[RobotsDirectives],
) -> HtmlFacts:
    """Return the facts of the markup; invisible elements are removed from the tree."""
    return _Reader(Markup(root, url)).read(text, charset, tuple(headers))


class _Reader:
    """Reads one tree, and counts what is beyond its bounds."""

    def __init__(self, markup: Markup) -> None:
        self.markup = markup
        self.root = markup.root
        self.left_out = 0

    def read(
        self, text: str, charset: str | None, robots: tuple[RobotsDirectives, ...]
    ) -> HtmlFacts:
        markup, metas = self.markup, list(self.root.iter("meta"))
        relations = [(relations_of(link), link) for link in self.root.iter("link")]
        anchors, duplicates = self._anchors()
        return HtmlFacts(
            doctype=_doctype(text),
            charset=charset,
            lang=self._lang(),
            titles=self._few(self._titles()),
            descriptions=self._few(_contents(metas, "description")),
            viewport=next(iter(_contents(metas, "viewport")), None),
            policy=next(_policies(metas), None),
            robots=(*robots, *self._few(_robots(metas))),
            canonicals=self._few(self._canonicals(relations)),
            alternates=self._few(self._alternates(relations)),
            pagination=self._few(self._pagination(relations)),
            body_metas=self._few(self._body_metas()),
            refresh=next(self._refreshes(metas), ""),
            headings=self._few(self._headings()),
            links=self._bounded(links_of(markup), MAX_LINKS),
            images=self._bounded(images_of(markup), MAX_IMAGES),
            image_files=self._bounded(dict.fromkeys(image_files_of(markup, metas)), MAX_IMAGES),
            pictures_without_img=sum(
                next(picture.iter("img"), None) is None for picture in self.root.iter("picture")
            ),
            structured=structured_items(self.root, text),
            social=tuple(_social(metas).items()),
            forms=self._few(self._forms()),
            subresources=self._few(dict.fromkeys(insecure_urls(markup, relations))),
            anchors=anchors,
            duplicate_ids=duplicates,
            elements=int(self.root.xpath("count(//*)")),
            depth=self._depth(),
            text=text_facts(markup.body),  # last: it removes invisible elements
            left_out=self.left_out,
        )

    def _few[Item](self, items: Iterable[Item]) -> tuple[Item, ...]:
        return self._bounded(items, MAX_FEW)

    def _bounded[Item](self, items: Iterable[Item], limit: int) -> tuple[Item, ...]:
        rest = iter(items)
        kept = tuple(islice(rest, limit))
        self.left_out += sum(1 for _ in rest)
        return kept

    def _lang(self) -> str | None:
        declared = self.root.get("lang") or self.root.get("xml:lang")
        return declared.strip()[:50] if declared and declared.strip() else None

    def _titles(self) -> Iterator[str]:
        for title in self.root.iter("title"):
            if not _is_in(title, "svg"):
                yield squeezed(title.text_content())

    def _headings(self) -> Iterator[Heading]:
        for each, text in spoken_texts(self.root, _HEADINGS).items():
            yield Heading(int(each.tag[1]), text)

    def _canonicals(self, relations: Related) -> Iterator[Canonical]:
        for rel, link in relations:
            if "canonical" in rel and not _is_in(link, "body"):
                href = link.get("href") or ""
                yield Canonical(href[:MAX_VALUE_CHARS], self.markup.resolved(href))

    def _alternates(self, relations: Related) -> Iterator[Alternate]:
        for rel, link in relations:
            if "alternate" in rel and (language := link.get("hreflang")):
                href = link.get("href") or ""
                yield Alternate(language[:50], href[:MAX_VALUE_CHARS], self.markup.resolved(href))

    def _pagination(self, relations: Related) -> Iterator[str]:
        for rel, link in relations:
            if rel & {"next", "prev"} and (target := self.markup.resolved(link.get("href") or "")):
                yield target

    def _body_metas(self) -> Iterator[str]:
        for meta in self.markup.body.iter("meta"):
            name = meta.get("name") or meta.get("http-equiv") or _preview_name(meta)
            if name and meta.get("itemprop") is None:
                yield f"meta {name.strip().lower()[:50]}"
        for link in self.markup.body.iter("link"):
            relations = relations_of(link)
            if "canonical" in relations or ("alternate" in relations and link.get("hreflang")):
                yield f"link {' '.join(sorted(relations & _HEAD_ONLY_RELATIONS))}"

    def _refreshes(self, metas: Iterable[html.HtmlElement]) -> Iterator[str]:
        """Yield targets of `meta` elements, except inside noscript."""
        for meta in metas:
            if (meta.get("http-equiv") or "").strip().lower() != "refresh":
                continue
            found = _REFRESH.match(meta.get("content") or "")
            if found is None:
                continue
            target = self.markup.resolved(found[1].strip("'\" "))
            if target and not _is_in(meta, "noscript"):
                yield target

    def _forms(self) -> Iterator[HtmlForm]:
        for form in self.root.iter("form"):
            action = (form.get("action") or "").strip()
            yield HtmlForm(
                url=self.markup.resolved(action) if action else self.markup.url.text,
                method=(form.get("method") or "get").lower()[:10],
                password=any(
                    (field.get("type") or "").lower() == "password" for field in form.iter("input")
                ),
            )

    def _anchors(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        counts = Counter(name[:MAX_VALUE_CHARS] for name in self.root.xpath("//@id") if name)
        names = (each.get("name") for each in self.root.iter("a") if each.get("name"))
        unique = dict.fromkeys([*counts, *(str(name)[:MAX_VALUE_CHARS] for name in names)])
        duplicates = [name for name, count in counts.items() if count > 1]
        return self._bounded(map(str, unique), MAX_ANCHORS), tuple(map(str, duplicates))[:MAX_FEW]

    def _depth(self) -> int:
        """Return the depth, at least 32, by binary search with XPath."""
        low, high = SHALLOW, MAX_LEVELS if self._reaches(SHALLOW + 1) else SHALLOW
        while low < high:
            middle = (low + high + 1) // 2
            if self._reaches(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def _reaches(self, level: int) -> bool:
        return bool(self.root.xpath(f"boolean({'/*' * level})"))


def _is_in(element: html.HtmlElement, tag: str) -> bool:
    # lxml searches by tag; a comparison in Python takes minutes on deeply nested pages.
    return next(element.iterancestors(tag), None) is not None


def _preview_name(meta: html.HtmlElement) -> str:
    """Return the name of a property for previews; others are RDFa, which the body may hold."""
    name = (meta.get("property") or "").strip().lower()
    return name if name.startswith(_PREVIEWS) else ""


def _doctype(text: str) -> str | None:
    found = _DOCTYPE.match(text)
    return " ".join(found[1].lower().split())[:MAX_VALUE_CHARS] if found else None


def _policies(metas: Iterable[html.HtmlElement]) -> Iterator[str]:
    for meta in metas:
        if (meta.get("http-equiv") or "").lower() == "content-security-policy":
            yield (meta.get("content") or "")[:2000]


def _contents(metas: Iterable[html.HtmlElement], name: str) -> list[str]:
    return [
        squeezed(meta.get("content") or "")
        for meta in metas
        if (meta.get("name") or "").strip().lower() == name
    ]


def _robots(metas: Iterable[html.HtmlElement]) -> Iterator[RobotsDirectives]:
    for meta in metas:
        agent = (meta.get("name") or "").strip().lower()
        content = (meta.get("content") or "")[:MAX_VALUE_CHARS]
        if agent in INDEXERS and content.strip():
            yield RobotsDirectives("meta", agent, directives_of(content))


def _social(metas: Iterable[html.HtmlElement]) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in metas:
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        content = squeezed(meta.get("content") or "")
        is_kept = name.startswith(("og:", "twitter:")) or name == MODIFIED
        if is_kept and content and len(found) < MAX_FEW:
            found.setdefault(name[:50], content)
    return found

"""Facts of a page's markup, read in a few passes over its tree."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml import html

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
    HtmlImage,
    ImageFile,
    Link,
    RobotsDirectives,
)
from spinneret.audits.facts.structured import structured_items
from spinneret.audits.facts.text import spoken_texts, text_facts
from spinneret.web.exploring.robots_tags import directives_of
from spinneret.web.fetching.urls import Url, join_url

MAX_IMAGES: Final = 1000
MAX_LEVELS: Final = 2048  # libxml2 doesn't nest deeper (content.extraction.markup)
SHALLOW: Final = 32
MAX_VALUE_CHARS: Final = 500
MAX_TEXT_CHARS: Final = 100
MAX_LABEL_TEXTS: Final = 1000
MAX_LABEL_CHARS: Final = 10_000
"""Maximum texts and characters, blanks included, that are read of a label."""

# Possessive: a page without a doctype would be tried in exponentially many ways. `<?xml …>` is a
# comment to browsers.
_DOCTYPE: Final = re.compile(
    r"\s*+(?:(?:<!--.*?-->|<\?[^>]*>)\s*+)*+<!doctype\s++([^>]*)>", re.IGNORECASE | re.DOTALL
)
_SCHEME: Final = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_CANDIDATE: Final = re.compile(r"[\s,]*([^\s,]\S*)")
_CREDENTIALS: Final = re.compile(r"//[^/@\s]*@")
_FOLLOWED: Final = frozenset({"http", "https", "javascript", "file"})
_HEAD_ONLY_RELATIONS: Final = frozenset({"canonical", "alternate"})
_SOURCES: Final = {
    **dict.fromkeys(("script", "img", "iframe", "frame", "audio", "source"), ("src",)),
    **dict.fromkeys(("track", "embed"), ("src",)),
    "video": ("src", "poster"),
    "input": ("src",),
    "object": ("data",),
}
_LOADED_RELATIONS: Final = frozenset({"stylesheet", "icon", "preload", "modulepreload", "manifest"})
# Possessive: each blank is read once.
_REFRESH: Final = re.compile(
    r"\s*+[\d.]++(?=[;,\s])\s*+[;,]?+\s*+(?:url\s*+=\s*+)?(.+)", re.IGNORECASE | re.DOTALL
)
_CSS_URL: Final = re.compile(r"""url\(\s*["']?([^"')\s]+)""", re.IGNORECASE)
# A script operates an `a` with such a role, so it isn't a link to follow.
_CONTROL_ROLES: Final = frozenset({"button", "tab", "menuitem", "option", "switch", "checkbox"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
type Related = Sequence[tuple[set[str], html.HtmlElement]]
"""Each `link` element after its relations."""


def html_facts(
    text: str,
    root: html.HtmlElement,
    url: Url,
    charset: str | None,
    headers: Iterable[RobotsDirectives],
) -> HtmlFacts:
    """Return the facts of the markup; invisible elements are removed from the tree."""
    return _Reader(root, url).read(text, charset, tuple(headers))


class _Reader:
    """Reads one tree; each URL is resolved once, since menus repeat them."""

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
        self.left_out = 0
        self._joined: dict[str, str | None] = {}
        self._label_texts: dict[str, str] = {}
        base = next((each.get("href") for each in root.iter("base") if each.get("href")), None)
        if base:
            self.base = join_url(url, base) or url
        self.origin = replace(self.base, path="/", query="")

    def read(
        self, text: str, charset: str | None, robots: tuple[RobotsDirectives, ...]
    ) -> HtmlFacts:
        metas = list(self.root.iter("meta"))
        relations = [(_relations(link), link) for link in self.root.iter("link")]
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
            links=self._bounded(self._links(), MAX_LINKS),
            images=self._bounded(self._images(), MAX_IMAGES),
            image_files=self._bounded(dict.fromkeys(self._image_files(metas)), MAX_IMAGES),
            pictures_without_img=sum(
                next(picture.iter("img"), None) is None for picture in self.root.iter("picture")
            ),
            structured=structured_items(self.root, text),
            social=tuple(_social(metas).items()),
            forms=self._few(self._forms()),
            subresources=self._few(dict.fromkeys(self._insecure(relations))),
            anchors=anchors,
            duplicate_ids=duplicates,
            elements=int(self.root.xpath("count(//*)")),
            depth=self._depth(),
            text=text_facts(self.body),  # last: it removes invisible elements
            left_out=self.left_out,
        )

    def _few[Item](self, items: Iterable[Item]) -> tuple[Item, ...]:
        return self._bounded(items, MAX_FEW)

    def _bounded[Item](self, items: Iterable[Item], limit: int) -> tuple[Item, ...]:
        rest = iter(items)
        kept = tuple(islice(rest, limit))
        self.left_out += sum(1 for _ in rest)
        return kept

    def _resolved(self, href: str) -> str | None:
        href = href.strip()
        if href not in self._joined:
            rooted = href.startswith(("/", "http://", "https://"))
            self._joined[href] = _joined(self.origin if rooted else self.base, href)
        return self._joined[href]

    def _lang(self) -> str | None:
        declared = self.root.get("lang") or self.root.get("xml:lang")
        return declared.strip()[:50] if declared and declared.strip() else None

    def _titles(self) -> Iterator[str]:
        for title in self.root.iter("title"):
            if not _is_in(title, "svg"):
                yield _squeezed(title.text_content())

    def _headings(self) -> Iterator[Heading]:
        for each, text in spoken_texts(self.root, _HEADINGS, MAX_TEXT_CHARS).items():
            yield Heading(int(each.tag[1]), text)

    def _canonicals(self, relations: Related) -> Iterator[Canonical]:
        for rel, link in relations:
            if "canonical" in rel and not _is_in(link, "body"):
                href = link.get("href") or ""
                yield Canonical(href[:MAX_VALUE_CHARS], self._resolved(href))

    def _alternates(self, relations: Related) -> Iterator[Alternate]:
        for rel, link in relations:
            if "alternate" in rel and (language := link.get("hreflang")):
                href = link.get("href") or ""
                yield Alternate(language[:50], href[:MAX_VALUE_CHARS], self._resolved(href))

    def _pagination(self, relations: Related) -> Iterator[str]:
        for rel, link in relations:
            if rel & {"next", "prev"} and (target := self._resolved(link.get("href") or "")):
                yield target

    def _body_metas(self) -> Iterator[str]:
        for meta in self.body.iter("meta"):
            name = meta.get("name") or meta.get("property") or meta.get("http-equiv")
            if name and meta.get("itemprop") is None:
                yield f"meta {name.strip().lower()[:50]}"
        for link in self.body.iter("link"):
            relations = _relations(link)
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
            target = self._resolved(found[1].strip("'\" "))
            if target and not _is_in(meta, "noscript"):
                yield target

    def _links(self) -> Iterator[Link]:
        for element, text in spoken_texts(self.root, ("a", "area"), MAX_TEXT_CHARS).items():
            href = element.get("href")
            if href is None:
                href = element.get("xlink:href")
            if (element.get("role") or "").strip().lower() in _CONTROL_ROLES:
                continue
            named = element.get("id") or element.get("name")
            if href is None and (named or not (len(element) or (element.text or "").strip())):
                continue  # a target of links, or an empty element
            scheme = _SCHEME.match(href or "")
            if scheme and scheme[1].lower() not in _FOLLOWED:
                continue
            yield self._link(element, href, text)

    def _link(self, element: html.HtmlElement, href: str | None, text: str) -> Link:
        bare, _, fragment = (href or "").strip().partition("#")
        url = self._resolved(bare) if bare else (self.base.text if fragment else None)
        relations = _relations(element)
        return Link(
            url=url,
            href=None
            if url is not None or href is None
            else _CREDENTIALS.sub("//…@", href[:MAX_VALUE_CHARS]),
            fragment=unquote(fragment)[:MAX_VALUE_CHARS] if url is not None else "",
            text=text or self._labels(element),
            nofollow=not relations.isdisjoint({"nofollow", "ugc", "sponsored"}),
            unsafe_blank=(element.get("target") or "").lower() == "_blank"
            and relations.isdisjoint({"noopener", "noreferrer"}),
            hidden=element.get("aria-hidden") == "true",
        )

    def _labels(self, element: html.HtmlElement) -> str:
        """Return the text of the elements that label this one."""
        names = (element.get("aria-labelledby") or "").split()[:5]
        return _squeezed(" ".join(map(self._label, names)))[:MAX_TEXT_CHARS]

    def _label(self, name: str) -> str:
        """Return the text of the first element with an id, which is read once."""
        if name not in self._label_texts:
            labelling = self._by_id.get(name)
            texts = iter(()) if labelling is None else labelling.itertext()
            text = _squeezed("".join(islice(texts, MAX_LABEL_TEXTS))[:MAX_LABEL_CHARS])
            self._label_texts[name] = text
        return self._label_texts[name]

    @cached_property
    def _by_id(self) -> dict[str, html.HtmlElement]:
        """The first element with each id."""
        return {each.get("id"): each for each in reversed(self.root.xpath("//*[@id]"))}

    def _images(self) -> Iterator[HtmlImage]:
        for image in self.root.iter("img", "input"):
            if image.tag == "input" and not _is_image_button(image):
                continue
            source = image.get("src") or image.get("data-src") or ""
            style = image.get("style") or ""
            yield HtmlImage(
                url=self._resolved(source),
                alt=self._labels(image) or _alternative(image),
                sized=bool(image.get("width") and image.get("height"))
                or "aspect-ratio" in style
                or ("width" in style and "height" in style),
                loading=(image.get("loading") or "")[:20].lower(),
            )

    def _image_files(self, metas: Iterable[html.HtmlElement]) -> Iterator[ImageFile]:
        for meta in metas:
            if (meta.get("property") or meta.get("name") or "").strip().lower() == "og:image":
                source = self._resolved(meta.get("content") or "")
                if source is not None:
                    yield ImageFile("meta[property='og:image']", source)
        for element in self.root.iter("img", "source"):
            for candidate in srcset_urls(element.get("srcset") or ""):
                source = self._resolved(candidate)
                if source is not None:
                    yield ImageFile("img[srcset]", source)

    def _forms(self) -> Iterator[HtmlForm]:
        for form in self.root.iter("form"):
            action = (form.get("action") or "").strip()
            yield HtmlForm(
                url=self._resolved(action) if action else self.url.text,
                method=(form.get("method") or "get").lower()[:10],
                password=any(
                    (field.get("type") or "").lower() == "password" for field in form.iter("input")
                ),
            )

    def _insecure(self, relations: Related) -> Iterator[str]:
        sources = (
            element.get(name)
            for element in self.root.iter(*_SOURCES)
            if element.tag != "input" or _is_image_button(element)
            for name in _SOURCES[element.tag]
        )
        sheets = (link.get("href") for rel, link in relations if rel & _LOADED_RELATIONS)
        sets = (
            candidate
            for element in self.root.iter("img", "source", "link")
            for candidate in srcset_urls(element.get("srcset") or element.get("imagesrcset") or "")
        )
        styles = (
            found
            for text in (*self.root.xpath("//@style"), *map(_text_of, self.root.iter("style")))
            for found in _CSS_URL.findall(text)
        )
        for source in (*sources, *sheets, *sets, *styles):
            if source and (target := self._resolved(source)) and target.startswith("http:"):
                yield target

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


def srcset_urls(srcset: str) -> Iterator[str]:
    """Yield the URLs of a `srcset`: each ends at a space, or at a comma before one."""
    at = 0
    while (found := _CANDIDATE.match(srcset, at)) is not None:
        url, at = found[1], found.end()
        if not url.endswith(","):
            comma = srcset.find(",", at)
            at = len(srcset) if comma < 0 else comma
        yield url.rstrip(",")


@lru_cache(maxsize=20_000)  # menus repeat on every page of a site
def _joined(base: Url, href: str) -> str | None:
    target = join_url(base, href) if href else None
    return target.text if target else None


def _is_in(element: html.HtmlElement, tag: str) -> bool:
    # By tag, lxml searches: a comparison in Python takes minutes on deeply nested pages.
    return next(element.iterancestors(tag), None) is not None


def _is_image_button(element: html.HtmlElement) -> bool:
    return (element.get("type") or "").strip().lower() == "image"


def _text_of(element: html.HtmlElement) -> str:
    return element.text or ""


def _doctype(text: str) -> str | None:
    found = _DOCTYPE.match(text)
    return " ".join(found[1].lower().split())[:MAX_VALUE_CHARS] if found else None


def _relations(element: html.HtmlElement) -> set[str]:
    return set((element.get("rel") or "").lower().split())


def _policies(metas: Iterable[html.HtmlElement]) -> Iterator[str]:
    for meta in metas:
        if (meta.get("http-equiv") or "").lower() == "content-security-policy":
            yield (meta.get("content") or "")[:2000]


def _contents(metas: Iterable[html.HtmlElement], name: str) -> list[str]:
    return [
        _squeezed(meta.get("content") or "")
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
        content = _squeezed(meta.get("content") or "")
        is_kept = name.startswith(("og:", "twitter:")) or name == MODIFIED
        if is_kept and content and len(found) < MAX_FEW:
            found.setdefault(name[:50], content)
    return found


def _alternative(image: html.HtmlElement) -> str | None:
    """Return an image's alternative text; empty for a decoration, None if missing."""
    alt = image.get("alt")
    label = image.get("aria-label") or image.get("title")
    if alt is None and label:
        alt = label
    hidden = image.get("aria-hidden") == "true" or image.get("role") in ("presentation", "none")
    if alt is None and hidden:
        return ""
    return None if alt is None else _squeezed(alt)


def _squeezed(text: str) -> str:
    return " ".join(text.split())[:MAX_VALUE_CHARS]

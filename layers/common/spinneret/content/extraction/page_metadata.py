"""Title, metadata, language and links declared by a page's markup."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from lxml import etree, html

from spinneret.content.extraction.dates import publish_date, stated
from spinneret.content.extraction.models import UNKNOWN, Hyperlink, Metadata
from spinneret.content.extraction.structured_data import StructuredData
from spinneret.content.extraction.vocabulary import UNSEEN
from spinneret.web.exploring.robots_tags import directives_of, forbids_following
from spinneret.web.fetching.urls import Url, join_url, web_url

MAX_LINKS: Final = 10_000
MAX_LABEL_CHARS: Final = 200
"""Limit of a link's text, since a card's description may be long."""
_LABEL_ELEMENTS: Final = 200
"""Elements of a link that are read for its text."""
MAX_VALUE_CHARS: Final = 4096
"""Longer values aren't titles, names or descriptions; the next candidate is used instead."""
MAX_KEYWORDS: Final = 100
_WORD_CHARS: Final = 200
"""Limit of a keyword. A document's row holds 400 KB with everything."""
MAX_TARGET_CHARS: Final = 2048
"""Limit of a link's address in the text; longer ones hold state or data."""
_MAX_TARGETS_CHARS: Final = 5_000_000

Resolve = Callable[[str], str | None]
"""Function from an address as written to the absolute http(s) URL without its fragment, or None."""

_AUTHOR_NAMES: Final = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
)
_DATE_NAMES: Final = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.issued",
    "citation_publication_date",
    "pubdate",
    "publishdate",
    "publish-date",
    "parsely-pub-date",
    "sailthru.date",
)
_PART: Final = re.compile(r"Comment|Review|Answer")
_FEW: Final = 20  # elements examined per value; later ones aren't the page's own
_UNSAFE_IN_TARGET: Final = str.maketrans(
    {"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E", "\\": "%5C", "|": "%7C"}
)
_LANGUAGE: Final = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z0-9])")  # ISO 639 codes only


class Head:
    """The page's `meta` elements, indexed by name; the first value of a name takes precedence."""

    def __init__(self, root: html.HtmlElement) -> None:
        self._values: dict[str, list[str]] = {}
        for meta in root.iter("meta"):
            name = meta.get("property") or meta.get("name") or meta.get("http-equiv")
            value = _clean(meta.get("content"))
            if name and value:
                self._values.setdefault(name.strip().lower(), []).append(value)

    def first(self, *names: str) -> str | None:
        """Return the value of the first name that has one."""
        return next(self.all(*names), None)

    def all(self, *names: str) -> Iterator[str]:
        """Yield the values of all names, in the names' order."""
        for name in names:
            yield from self._values.get(name, ())

    def named(self) -> Iterable[tuple[str, list[str]]]:
        """Return every name in lower case, with its values."""
        return self._values.items()


def title(root: html.HtmlElement, head: Head) -> str | None:
    """Return og:title, else `title` (outside of drawings), else the first `h1`."""
    titles = (element.text for element in root.iter("title") if _parent_tag(element) != "svg")
    return _first(chain([head.first("og:title")], _few(titles), _few(_texts(root, "h1"))))


def metadata(
    root: html.HtmlElement, head: Head, data: StructuredData, resolve: Resolve
) -> Metadata:
    """Read structured data first, then `meta` elements, then text elements. For the date, the text
    around the heading is the last resort."""
    return Metadata(
        author=_first(
            chain(
                [data.author],
                _marked(root, "author"),
                (name for name in head.all(*_AUTHOR_NAMES) if "://" not in name),
            )
        ),
        publish_date=publish_date(
            chain(data.dates, _marked(root, "datePublished")),
            head.all(*_DATE_NAMES),
            (element.get("datetime") or "" for element in root.iter("time")),
            stated(_beside_heading(root)),
        ),
        description=head.first("description", "og:description", "twitter:description"),
        keywords=_keywords(head),
        og_image=_absolute(resolve, head.all("og:image", "og:image:url", "og:image:secure_url")),
        canonical_url=_absolute(
            resolve,
            (
                link.get("href") or ""
                for link in root.iter("link")
                if "canonical" in _relations(link)
            ),
        ),
    )


def language(root: html.HtmlElement, head: Head) -> str:
    """Return the declared language's primary subtag in lower case; `und` without a usable one."""
    declared = (root.get("lang"), root.get("xml:lang"), head.first("content-language"))
    return primary_subtag(declared)


def primary_subtag(declared: Iterable[str | None]) -> str:
    """Return the primary subtag of the first usable language tag in lower case; `und` if none."""
    for tag in declared:
        match = _LANGUAGE.match(tag or "")
        if match is not None:
            return match[1].lower()
    return UNKNOWN


def resolver(base: Url | None) -> Resolve:
    """Return the function for a page with that base. It keeps its answers, as most links of a page
    are read twice: as a link, and in the text."""

    @lru_cache(MAX_LINKS)
    def resolve(href: str) -> str | None:
        url = join_url(base, href) if base is not None else web_url(href)
        return None if url is None else url.text

    return resolve


def base_url(root: html.HtmlElement, url: str) -> Url | None:
    """Return the base of relative links; None for a page without an http(s) address."""
    page = web_url(url)
    for base in root.iter("base"):
        href = base.get("href")
        if href:
            return (join_url(page, href) if page else web_url(href)) or page
    return page


def links(hrefs: Iterable[str], resolve: Resolve) -> tuple[str, ...]:
    """Return absolute http(s) URLs in the given order, each once, without fragment, at most 10,000.

    Links within the page are omitted.
    """
    found: dict[str, None] = {}
    for href in dict.fromkeys(hrefs):
        url = _link(href, resolve)
        if url is not None:
            found[url] = None
            if len(found) == MAX_LINKS:
                break
    return tuple(found)


def hyperlinks(root: html.HtmlElement, resolve: Resolve) -> tuple[Hyperlink, ...]:
    """Return a page's hyperlinks with texts and relations, including nofollow links; see
    `links`."""
    found: dict[str, Hyperlink] = {}
    for element in root.iter("a", "area"):
        url = _link(element.get("href") or "", resolve)
        if url is None:
            continue
        former = found.get(url)
        found[url] = _hyperlink(url, element) if former is None else _again(former, element)
        if len(found) == MAX_LINKS:
            break
    return tuple(found.values())


def _hyperlink(url: str, element: html.HtmlElement) -> Hyperlink:
    rel = tuple(sorted(_relations(element)))
    return Hyperlink(url=url, text=_label(element), rel=rel, may_follow="nofollow" not in rel)


def _again(former: Hyperlink, element: html.HtmlElement) -> Hyperlink:
    """Merge another occurrence of a link, such as a card's title after its picture."""
    text = former.text or _label(element)
    may_follow = former.may_follow or "nofollow" not in _relations(element)
    if (text, may_follow) == (former.text, former.may_follow):
        return former
    return replace(former, text=text, may_follow=may_follow)


def nofollow_agents(head: Head) -> tuple[str, ...]:
    """Return the crawlers whose `meta` elements forbid following links."""
    return tuple(
        name
        for name, values in head.named()
        if any(forbids_following(directives_of(value)) for value in values)
    )[:_FEW]


def _link(href: str, resolve: Resolve) -> str | None:
    """Return the absolute URL; None for links within the page or to unsupported addresses."""
    return None if not href.strip() or href.lstrip().startswith("#") else resolve(href)


def _label(anchor: html.HtmlElement) -> str:
    """Return the first words inside a link, with pictures' descriptions.

    Bounded, since a link may contain half a page. Another link ends it, as in browsers, so that
    each element is read for one link.
    """
    words: list[str] = []
    length = 0
    for element in islice(anchor.iter(etree.Element), _LABEL_ELEMENTS):
        if element.tag == "a" and element is not anchor:
            break
        alt = element.get("alt") or "" if element.tag in ("img", "area") else ""
        for text in (alt, element.text, element.tail if element is not anchor else ""):
            if text and element.tag not in ("script", "style"):
                words += text[: 4 * MAX_LABEL_CHARS].split()
                length += min(len(text), 4 * MAX_LABEL_CHARS)
        if length > 4 * MAX_LABEL_CHARS:
            break
    return " ".join(words)[:MAX_LABEL_CHARS].strip()


def target(href: str | None, resolve: Resolve) -> str | None:
    """Return a link's absolute http(s) address, escaped for Markdown, else None."""
    if not href or len(href) > MAX_TARGET_CHARS or href.startswith(("#", "data:")):
        return None
    url = resolve(href)
    return None if url is None else url.translate(_UNSAFE_IN_TARGET)


class Targets:
    """Addresses of the links and pictures in a page's text; see `target`.

    None after all of them have 5,000,000 characters: a declared base of 2,000 would lengthen each
    of 60,000 links.
    """

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._left = _MAX_TARGETS_CHARS

    def __call__(self, href: str | None) -> str | None:
        """Return the address of an `href` or `src` value, else None."""
        address = target(href, self._resolve)
        if address is None or len(address) > self._left:
            return None
        self._left -= len(address)
        return address


def _marked(root: html.HtmlElement, name: str) -> Iterator[str]:
    """Yield microdata values of an `itemprop`, except in comments and reviews."""
    for element in root.xpath("(.//*[@itemprop=$name])[position() <= $few]", name=name, few=_FEW):
        owners = (ancestor.get("itemtype") or "" for ancestor in element.iterancestors())
        if not any(_PART.search(owner) for owner in owners):
            yield element.get("content") or element.get("datetime") or element.text_content()


def _beside_heading(root: html.HtmlElement) -> Iterator[str]:
    """Yield the texts after the first `h1`, where bylines usually are, then those before it."""
    if next(root.iter("h1"), None) is None:
        return
    before: deque[str] = deque(maxlen=_FEW)
    texts = _visible_texts(root)
    for text, is_heading in texts:
        if is_heading:
            yield from islice((text for text, _ in texts), _FEW)
            yield from reversed(before)
            return
        before.append(text)


def _visible_texts(root: html.HtmlElement) -> Iterator[tuple[str, bool]]:
    """Yield each text between two tags, in order, and whether it starts an `h1`."""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if not isinstance(element.tag, str) or element.tag in UNSEEN:
            if event == "start":
                walk.skip_subtree()
                continue
            text = element.tail
        else:
            text = element.text if event == "start" else element.tail
        if event == "start" and element.tag == "h1":
            yield text or "", True
        elif text and not text.isspace():
            yield text, False


def _keywords(head: Head) -> tuple[str, ...]:
    listed = head.first("keywords", "news_keywords")
    words = re.split(r"[,;]", listed) if listed else head.all("article:tag")
    unique = dict.fromkeys(word.strip() for word in words if 0 < len(word.strip()) <= _WORD_CHARS)
    return tuple(unique)[:MAX_KEYWORDS]


def _absolute(resolve: Resolve, candidates: Iterable[str]) -> str | None:
    return next(iter(links(candidates, resolve)), None)


def _relations(link: html.HtmlElement) -> list[str]:
    return (link.get("rel") or "").lower().split()[:_FEW]


def _texts(root: html.HtmlElement, tag: str) -> Iterator[str]:
    return (element.text_content() for element in root.iter(tag))


def _few(values: Iterable[str | None]) -> Iterator[str | None]:
    return islice(values, _FEW)


def _parent_tag(element: html.HtmlElement) -> object:
    parent = element.getparent()
    return None if parent is None else parent.tag


def _first(candidates: Iterable[str | None]) -> str | None:
    return next((value for candidate in candidates if (value := _clean(candidate))), None)


def _clean(value: str | None) -> str | None:
    if value is None:
        return None
    cleaned = " ".join(value.split())
    return cleaned if 0 < len(cleaned) <= MAX_VALUE_CHARS else None

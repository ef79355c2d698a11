"""Images of a page, and the resources that it loads by http."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lxml import html

from spinneret.audits.facts.markup import Markup, Related, squeezed
from spinneret.audits.facts.models import HtmlImage, ImageFile

_CANDIDATE: Final = re.compile(r"[\s,]*([^\s,]\S*)")
_SOURCES: Final = {
    **dict.fromkeys(("script", "img", "iframe", "frame", "audio", "source"), ("src",)),
    **dict.fromkeys(("track", "embed"), ("src",)),
    "video": ("src", "poster"),
    "input": ("src",),
    "object": ("data",),
}
_LOADED_RELATIONS: Final = frozenset({"stylesheet", "icon", "preload", "modulepreload", "manifest"})
_NOT_SHOWN: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_CSS_URL: Final = re.compile(r"""url\(\s*["']?([^"')\s]+)""", re.IGNORECASE)


def images_of(markup: Markup) -> Iterator[HtmlImage]:
    """Yield the images that the page shows."""
    for image in markup.root.iter("img", "input"):
        if image.tag == "input" and not _is_image_button(image):
            continue
        source, later = image.get("src") or "", image.get("data-src") or ""
        style = image.get("style") or ""
        yield HtmlImage(
            url=markup.resolved(later if later and source[:5] in ("", "data:") else source),
            alt=markup.labels(image) or _alternative(image),
            sized=bool(image.get("width") and image.get("height"))
            or _is_unseen(image)
            or "aspect-ratio" in style
            or ("width" in style and "height" in style),
            loading=(image.get("loading") or "")[:20].lower(),
        )


def image_files_of(markup: Markup, metas: Iterable[html.HtmlElement]) -> Iterator[ImageFile]:
    """Yield the images that the page names elsewhere."""
    for meta in metas:
        if (meta.get("property") or meta.get("name") or "").strip().lower() == "og:image":
            source = markup.resolved(meta.get("content") or "")
            if source is not None:
                yield ImageFile("meta[property='og:image']", source)
    for element in markup.root.iter("img", "source"):
        for candidate in srcset_urls(element.get("srcset") or ""):
            source = markup.resolved(candidate)
            if source is not None:
                yield ImageFile("img[srcset]", source)


def insecure_urls(markup: Markup, relations: Related) -> Iterator[str]:
    """Yield the URLs of resources that are loaded by http."""
    sources = (
        element.get(name)
        for element in markup.root.iter(*_SOURCES)
        if element.tag != "input" or _is_image_button(element)
        for name in _SOURCES[element.tag]
    )
    sheets = (link.get("href") for rel, link in relations if rel & _LOADED_RELATIONS)
    sets = (
        candidate
        for element in markup.root.iter("img", "source", "link")
        for candidate in srcset_urls(element.get("srcset") or element.get("imagesrcset") or "")
    )
    styles = (
        found
        for text in (*markup.root.xpath("//@style"), *map(_text_of, markup.root.iter("style")))
        for found in _CSS_URL.findall(text)
    )
    for source in (*sources, *sheets, *sets, *styles):
        if source and (target := markup.resolved(source)) and target.startswith("http:"):
            yield target


def srcset_urls(srcset: str) -> Iterator[str]:
    """Yield the URLs of a `srcset`: each ends at a space, or at a comma before one."""
    at = 0
    while (found := _CANDIDATE.match(srcset, at)) is not None:
        url, at = found[1], found.end()
        if not url.endswith(","):
            comma = srcset.find(",", at)
            at = len(srcset) if comma < 0 else comma
        yield url.rstrip(",")


def _alternative(image: html.HtmlElement) -> str | None:
    """Return an image's alternative text; empty for a decoration, None if missing."""
    alt = image.get("alt")
    label = image.get("aria-label") or image.get("title")
    if alt is None and label:
        alt = label
    hidden = image.get("aria-hidden") == "true" or image.get("role") in ("presentation", "none")
    if alt is None and (hidden or _is_unseen(image)):
        return ""
    return None if alt is None else squeezed(alt)


def _is_unseen(image: html.HtmlElement) -> bool:
    """Return whether nobody sees an image: it only counts visits, for instance."""
    is_dot = all((image.get(side) or "").strip() in ("0", "1") for side in ("width", "height"))
    hides = image.get("hidden") is not None or _NOT_SHOWN.search(image.get("style") or "")
    return is_dot or bool(hides)


def _is_image_button(element: html.HtmlElement) -> bool:
    return (element.get("type") or "").strip().lower() == "image"


def _text_of(element: html.HtmlElement) -> str:
    return element.text or ""

"""The markup's frame: headings, language, encoding, viewport, ids, size."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.reading import is_language, listed
from spinneret.audits.facts.models import Failure, HtmlFacts, Kind, PageFacts

_STRUCTURE: Final = CheckDecorators(Category.STRUCTURE)

MAX_ELEMENTS: Final = 1500  # seonaut, squirrelscan
MAX_DEPTH: Final = 32  # squirrelscan, Lighthouse 13.5 (dom-size)
MIN_ZOOM: Final = 5.0  # Lighthouse 13.5 (meta-viewport), as axe: less than five times fails
_VIEWPORT: Final = "meta[name=viewport]"
_MAX_SCALE: Final = re.compile(r"maximum-scale\s*=\s*([\d.]+)", re.IGNORECASE)
_NO_ZOOM: Final = re.compile(r"user-scalable\s*=\s*(?:no\b|0(?![.\d]))", re.IGNORECASE)


@_STRUCTURE.markup(
    "h1.missing",
    "The page has no main heading",
    Severity.MEDIUM,
    weight=5,
    advice="Begin the page with an h1 that names its subject.",
    source=sources.HEADINGS,
)
def h1_missing(_: PageFacts, html: HtmlFacts) -> Answer:
    """No h1, or nothing in it."""
    there = any(heading.level == 1 and heading.text for heading in html.headings)
    return [] if there else [Evidence("h1", "(none)")]


@_STRUCTURE.markup(
    "h1.multiple",
    "The page has several main headings",
    Severity.LOW,
    advice="Keep one h1 and make the others h2.",
    source=sources.HEADINGS,
    after=("h1.missing",),
)
def h1_multiple(_: PageFacts, html: HtmlFacts) -> Answer:
    """More than one h1."""
    texts = [heading.text for heading in html.headings if heading.level == 1]
    return listed("h1", texts, "1") if len(texts) > 1 else []


@_STRUCTURE.markup(
    "headings.order",
    "Headings skip a level",
    Severity.LOW,
    advice="Let each heading be at most one level below the one before.",
    source=sources.HEADINGS,
    after=("h1.missing",),
)
def heading_order(_: PageFacts, html: HtmlFacts) -> Answer:
    """Downwards only: a new section may begin at any level above."""
    return [
        Evidence(f"h{below.level}", below.text, f"h{above.level + 1}")
        for above, below in pairwise(html.headings)
        if below.level > above.level + 1
    ]


@_STRUCTURE.markup(
    "lang.missing",
    "The page doesn't say its language",
    Severity.MEDIUM,
    advice="Add a lang attribute to the html element.",
    source=sources.LANGUAGE,
)
def lang_missing(_: PageFacts, html: HtmlFacts) -> Answer:
    """No `lang` on the root."""
    return [] if html.lang else [Evidence("html[lang]", "(none)")]


@_STRUCTURE.markup(
    "lang.invalid",
    "The page's language isn't a known one",
    Severity.MEDIUM,
    advice="Use a tag such as `en` or `pt-BR`.",
    source=sources.LANGUAGE,
    after=("lang.missing",),
)
def lang_invalid(_: PageFacts, html: HtmlFacts) -> Answer:
    """By BCP 47."""
    lang = html.lang or ""
    return [] if is_language(lang) else [Evidence("html[lang]", lang, "a tag of BCP 47")]


@_STRUCTURE.markup(
    "charset",
    "The page doesn't declare its encoding in time",
    Severity.MEDIUM,
    advice="Send it in Content-Type, or put a meta charset at the beginning of the head.",
    source=sources.CHARSET,
)
def charset(_: PageFacts, html: HtmlFacts) -> Answer:
    """In the header, by a byte-order mark, or in the first 1024 bytes."""
    return [] if html.charset else [Evidence("meta[charset]", "(none)", "first 1024 bytes")]


@_STRUCTURE.markup(
    "doctype",
    "The page isn't declared as HTML 5",
    Severity.LOW,
    advice="Begin the document with <!doctype html>.",
    source=sources.DOCTYPE,
)
def doctype(_: PageFacts, html: HtmlFacts) -> Answer:
    """Others, and none at all, make browsers use older rules."""
    fits = html.doctype in ("html", 'html system "about:legacy-compat"')
    return [] if fits else [Evidence("doctype", html.doctype or "(none)", "html")]


@_STRUCTURE.markup(
    "viewport.missing",
    "The page isn't made for small screens",
    Severity.HIGH,
    advice='Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
    source=sources.VIEWPORT,
)
def viewport_missing(_: PageFacts, html: HtmlFacts) -> Answer:
    """No viewport, or nothing in it."""
    return [] if html.viewport else [Evidence(_VIEWPORT, "(none)", "width=device-width")]


@_STRUCTURE.markup(
    "viewport.zoom",
    "The page can't be enlarged",
    Severity.MEDIUM,
    weight=7,
    advice="Take user-scalable=no and maximum-scale out of the viewport.",
    source=sources.ZOOM,
    after=("viewport.missing",),
)
def viewport_zoom(_: PageFacts, html: HtmlFacts) -> Answer:
    """Zoom is off, or ends below five times."""
    content = html.viewport or ""
    scale = _MAX_SCALE.search(content)
    limited = scale is not None and _number(scale[1]) < MIN_ZOOM
    wrong = limited or _NO_ZOOM.search(content)
    return [Evidence(_VIEWPORT, content, "maximum-scale=5")] if wrong else []


@_STRUCTURE.markup(
    "meta.in_body",
    "Metadata stand in the body",
    Severity.HIGH,
    advice="Move them into the head, and look for an element before them that ends it too early.",
    source=sources.HEAD,
)
def meta_in_body(_: PageFacts, html: HtmlFacts) -> Answer:
    """Search engines leave robots directives and canonical addresses in the body unread."""
    return listed("body", html.body_metas, "head")


@_STRUCTURE.markup(
    "html.duplicate_id",
    "Several elements have the same id",
    Severity.LOW,
    advice="Give each element an id of its own.",
    source=sources.IDS,
)
def duplicate_id(_: PageFacts, html: HtmlFacts) -> Answer:
    """Links, labels and scripts find the first one only."""
    return [Evidence(f"#{name}", name, "1 element") for name in html.duplicate_ids]


@_STRUCTURE.page(
    "html.dom_size",
    "The page has very many elements",
    Severity.LOW,
    advice="Show less at once, and take wrappers out that only serve styling.",
    source=sources.DOM_SIZE,
    kinds=(Kind.HTML, Kind.FAILED),
)
def dom_size(page: PageFacts) -> Answer:
    """As sent by the server: scripts may add more."""
    if page.failure is Failure.TOO_COMPLEX:
        return [Evidence("html", "more than the audit reads", f"{MAX_ELEMENTS} elements")]
    html = page.html or HtmlFacts()
    found = []
    if html.elements > MAX_ELEMENTS:
        found.append(Evidence("html", f"{html.elements} elements", f"{MAX_ELEMENTS}"))
    if html.depth > MAX_DEPTH:
        found.append(Evidence("html", f"{html.depth} levels", f"{MAX_DEPTH}"))
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return MIN_ZOOM

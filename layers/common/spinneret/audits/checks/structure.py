"""Checks of the document's structure: headings, language, encoding, viewport, ids, size."""

import re
from itertools import pairwise
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.reading import is_language, listed
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind, ReadFailure

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
    """Report pages without an h1, or with empty ones only."""
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
    """Report pages with more than one h1."""
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
    """Check only steps downwards: a new section may begin at any higher level."""
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
    """Report a root element without `lang`."""
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
    """Report languages that BCP 47 doesn't allow."""
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
    """Accept the header, a byte-order mark, or a declaration in the first 1024 bytes."""
    return [] if html.charset else [Evidence("meta[charset]", "(none)", "first 1024 bytes")]


@_STRUCTURE.markup(
    "doctype",
    "The page isn't declared as HTML 5",
    Severity.LOW,
    advice="Begin the document with <!doctype html>.",
    source=sources.DOCTYPE,
)
def doctype(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report all other doctypes: they make browsers use older rules."""
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
    """Report pages without a viewport, or with an empty one."""
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
    """Report disabled zoom, or a maximum below five times."""
    content = html.viewport or ""
    scale = _MAX_SCALE.search(content)
    limited = scale is not None and _number(scale[1]) < MIN_ZOOM
    wrong = limited or _NO_ZOOM.search(content)
    return [Evidence(_VIEWPORT, content, "maximum-scale=5")] if wrong else []


@_STRUCTURE.markup(
    "meta.in_body",
    "Metadata are in the body",
    Severity.HIGH,
    advice="Move them into the head, and look for an element before them that ends it too early.",
    source=sources.HEAD,
)
def meta_in_body(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report metadata in the body, as search engines ignore robots and canonical tags there."""
    return listed("body", html.body_metas, "head")


@_STRUCTURE.markup(
    "html.duplicate_id",
    "Several elements have the same id",
    Severity.LOW,
    advice="Give each element an id of its own.",
    source=sources.IDS,
)
def duplicate_id(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report duplicate ids: links, labels and scripts find only the first."""
    return [Evidence(f"#{name}", name, "1 element") for name in html.duplicate_ids]


@_STRUCTURE.page(
    "html.dom_size",
    "The page has very many elements",
    Severity.LOW,
    advice="Show less at once, and take wrappers out that only serve styling.",
    source=sources.DOM_SIZE,
    kinds=(PageKind.HTML, PageKind.FAILED),
)
def dom_size(page: PageFacts) -> Answer:
    """Check the document sent by the server; scripts may add elements."""
    if page.failure is ReadFailure.TOO_COMPLEX:
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

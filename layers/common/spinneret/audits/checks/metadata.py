"""Checks of titles and descriptions."""

from collections.abc import Sequence
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import (
    LISTABLE,
    MAX_OTHERS,
    display_width,
    first_text,
    listed,
)
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts

_METADATA: Final = CheckDecorators(Category.METADATA)
_TITLED: Final = ("title.missing",)
_DESCRIBED: Final = ("desc.missing",)

MIN_TITLE: Final = 20  # seonaut; squirrelscan: 30
MAX_TITLE: Final = 60  # seonaut; squirrelscan: 75; Google truncates by width
MIN_DESCRIPTION: Final = 80  # seonaut; squirrelscan: 120
MAX_DESCRIPTION: Final = 160  # seonaut, squirrelscan
_DESCRIPTION: Final = "meta[name=description]"


@_METADATA.markup(
    "title.missing",
    "The page has no title",
    Severity.HIGH,
    advice="Give the page a title that says what it is about.",
    source=sources.TITLES,
)
def title_missing(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages without a title element, or with empty ones only."""
    return [] if any(html.titles) else [Evidence("title", "(empty)" if html.titles else "(none)")]


@_METADATA.markup(
    "title.short",
    "The title is very short",
    Severity.LOW,
    advice="Say what the page is about in 20 to 60 characters.",
    source=sources.TITLES,
    after=_TITLED,
)
def title_short(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check only the first title; a wide character counts as two."""
    return _too_short("title", html.titles, MIN_TITLE)


@_METADATA.markup(
    "title.long",
    "The title is too long to be shown",
    Severity.LOW,
    advice="Say what matters in the first 60 characters.",
    source=sources.TITLES,
    after=_TITLED,
)
def title_long(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check only the first title; a wide character counts as two."""
    return _too_long("title", html.titles, MAX_TITLE)


@_METADATA.markup(
    "title.multiple",
    "The page has several titles",
    Severity.MEDIUM,
    advice="Keep one title element.",
    source=sources.TITLES,
    after=_TITLED,
)
def title_multiple(_: PageFacts, html: HtmlFacts) -> Answer:
    """Fail pages with several titles; ignore `title` in SVG."""
    return listed("title", html.titles, "1") if len(html.titles) > 1 else []


@_METADATA.page_in_site(
    "title.duplicate",
    "Several pages have the same title",
    Severity.MEDIUM,
    advice="Give each page a title of its own.",
    source=sources.TITLES,
    after=(*_TITLED, *LISTABLE),
)
def title_duplicate(page: PageNode, site: Site) -> Answer:
    """Check only pages that search engines may list; ignore upper and lower case."""
    if not page.is_indexable:
        return None
    others = site.similar.sharing(page, "title")
    return [Evidence("title", page.title, "", url) for url in others[:MAX_OTHERS]]


@_METADATA.page_in_site(
    "title.outlier",
    "The title breaks the site's pattern",
    Severity.LOW,
    advice="End the title as the other pages' titles end.",
    source=sources.TITLES,
    after=_TITLED,
)
def title_outlier(page: PageNode, site: Site) -> Answer:
    """Report titles without the common prefix or suffix; the start page needs none."""
    if site.title_part is None or page is site.start_node:
        return None
    if site.title_part in page.title:
        return []
    return [Evidence("title", page.title, f"with {site.title_part!r}")]


@_METADATA.markup(
    "desc.missing",
    "The page has no description",
    Severity.MEDIUM,
    weight=5,
    advice="Sum the page up in a meta description of 80 to 160 characters.",
    source=sources.SNIPPETS,
)
def description_missing(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages without a description, or with empty ones only."""
    said = "(empty)" if html.descriptions else "(none)"
    return [] if any(html.descriptions) else [Evidence(_DESCRIPTION, said)]


@_METADATA.markup(
    "desc.short",
    "The description is very short",
    Severity.LOW,
    advice="Sum the page up in 80 to 160 characters.",
    source=sources.SNIPPETS,
    after=_DESCRIBED,
)
def description_short(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check only the first description; a wide character counts as two."""
    return _too_short(_DESCRIPTION, html.descriptions, MIN_DESCRIPTION)


@_METADATA.markup(
    "desc.long",
    "The description is too long to be shown",
    Severity.LOW,
    advice="Say what matters in the first 160 characters.",
    source=sources.SNIPPETS,
    after=_DESCRIBED,
)
def description_long(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check only the first description; a wide character counts as two."""
    return _too_long(_DESCRIPTION, html.descriptions, MAX_DESCRIPTION)


@_METADATA.markup(
    "desc.multiple",
    "The page has several descriptions",
    Severity.LOW,
    advice="Keep one meta description.",
    source=sources.SNIPPETS,
    after=_DESCRIBED,
)
def description_multiple(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages with several meta elements of that name."""
    return listed(_DESCRIPTION, html.descriptions, "1") if len(html.descriptions) > 1 else []


@_METADATA.page_in_site(
    "desc.duplicate",
    "Several pages have the same description",
    Severity.MEDIUM,
    advice="Describe each page by itself, or leave the description out.",
    source=sources.SNIPPETS,
    after=(*_DESCRIBED, *LISTABLE),
)
def description_duplicate(page: PageNode, site: Site) -> Answer:
    """Check only pages that search engines may list; ignore upper and lower case."""
    if not page.is_indexable:
        return None
    others = site.similar.sharing(page, "description")
    return [Evidence(_DESCRIPTION, page.description, "", url) for url in others[:MAX_OTHERS]]


def _too_short(where: str, texts: Sequence[str], least: int) -> Answer:
    text = first_text(texts)
    return listed(where, [text], f"{least} characters") if display_width(text) < least else []


def _too_long(where: str, texts: Sequence[str], most: int) -> Answer:
    text = first_text(texts)
    return listed(where, [text], f"{most} characters") if display_width(text) > most else []

"""Checks of the text of pages."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import LISTABLE, MAX_OTHERS, listed
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts

_CONTENT: Final = CheckDecorators(Category.CONTENT)

MIN_WORDS: Final = 200  # seonaut; squirrelscan: 300
NORM_FROM: Final = 10
"""Minimum number of pages of a site that has a norm …"""
NORM_SHARE: Final = 0.25
"""… and the share of the norm below which a page is thin."""
STUFFED_SHARE: Final = 0.07
"""Share that 4 of 410 labelled pages exceed; 75 exceed squirrelscan's 3 %, by their subject."""
STUFFED_FROM: Final = 10
"""Minimum occurrences of a stuffed term: three of a hundred words are no stuffing."""


@_CONTENT.markup(
    "content.thin",
    "The page has little text",
    Severity.LOW,
    advice="Say more on the page, or join it with another one.",
    source=sources.HELPFUL,
)
def thin(_: PageFacts, html: HtmlFacts) -> Answer:
    """Count words of the whole body, including menus; text added by scripts isn't counted."""
    words = html.text.words
    return [Evidence("body", f"{words} words", f"{MIN_WORDS}")] if words < MIN_WORDS else []


@_CONTENT.page_in_site(
    "content.thin_vs_norm",
    "The page has far less text than the others",
    Severity.LOW,
    advice="See whether something is missing on the page.",
    source=sources.HELPFUL,
    after=("content.thin",),
)
def thin_vs_norm(page: PageNode, site: Site) -> Answer:
    """Report pages with less than a quarter of the median."""
    if len(site.pages) < NORM_FROM:
        return None
    under = page.words < NORM_SHARE * site.usual_words
    norm = f"{site.usual_words:.0f} words is usual"
    return [Evidence("body", f"{page.words} words", norm)] if under else []


@_CONTENT.page_in_site(
    "content.duplicate",
    "Several pages have the same text",
    Severity.MEDIUM,
    advice="Keep one of the pages and redirect the others, or name it as canonical.",
    source=sources.CANONICAL,
    after=LISTABLE,
)
def duplicate(page: PageNode, site: Site) -> Answer:
    """Report identical texts of pages that search engines may list."""
    if not page.is_indexable or not page.fingerprint:
        return None
    others = site.similar.sharing(page, "fingerprint")
    return [Evidence("body", page.fingerprint, "", url) for url in others[:MAX_OTHERS]]


@_CONTENT.page_in_site(
    "content.near_duplicate",
    "Several pages have nearly the same text",
    Severity.LOW,
    advice="Join the pages, name one of them as canonical, or tell on each what is its own.",
    source=sources.CANONICAL,
    after=("content.duplicate",),
)
def near_duplicate(page: PageNode, site: Site) -> Answer:
    """Report texts outside links and code that differ in at most seven bits of their simhashes.

    Only pages that search engines may list, with at least 100 such words, are checked.
    """
    if not page.is_indexable or not page.signature:
        return None
    others = site.similar.near(page)
    return [Evidence("body", page.signature, "", each.url) for each in others[:MAX_OTHERS]]


@_CONTENT.markup(
    "content.placeholder",
    "The page shows a filler text",
    Severity.MEDIUM,
    weight=5,
    advice="Write the text, or take the part out until it is written.",
    source=sources.HELPFUL,
)
def placeholder(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report "lorem ipsum dolor sit amet", unless the page's title is about it."""
    text = html.text.placeholder
    about = any("lorem ipsum" in title.lower() for title in html.titles)
    return [Evidence("body", text)] if text and not about else []


@_CONTENT.markup(
    "content.stuffing",
    "One term fills the page",
    Severity.MEDIUM,
    weight=5,
    advice="Write for readers: use the term where it is needed.",
    source=sources.SPAM,
)
def stuffing(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report a term that makes up over 7 % of the words outside links and code.

    Pages with few words are not checked.
    """
    text = html.text
    if text.prose_words < MIN_WORDS:
        return None
    share = text.top_count / text.prose_words
    if share <= STUFFED_SHARE or text.top_count < STUFFED_FROM:
        return []
    return [Evidence("body", f"{text.top_term}: {share:.1%} of {text.prose_words} words", "7 %")]


@_CONTENT.markup(
    "content.hidden",
    "Text is moved out of sight",
    Severity.MEDIUM,
    weight=6,
    advice="Show the text, or take it out.",
    source=sources.SPAM,
)
def hidden(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report text hidden by inline styles that no fold or menu needs.

    Checking style sheets would need a browser.
    """
    return listed("[style]", html.text.hidden)


@_CONTENT.markup(
    "content.mojibake",
    "The page shows broken characters",
    Severity.MEDIUM,
    weight=5,
    advice="Declare the encoding that the text is in, and mend what was saved in a wrong one.",
    source=sources.ENCODING,
)
def mojibake(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report replacement characters, and UTF-8 that was read as Latin-1."""
    count = html.text.broken_characters
    return [Evidence("body", f"{count} broken characters", "0")] if count else []

"""Checks of pages in several languages."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import UNKNOWN, Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import is_absolute, is_language, is_same
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import (
    MAX_FEW,
    Alternate,
    HtmlFacts,
    PageFacts,
    PageKind,
    ReadFailure,
)

_HREFLANG: Final = CheckDecorators(Category.HREFLANG)
_SELECTOR: Final = "link[hreflang]"
_DEFAULT: Final = "x-default"


@_HREFLANG.markup(
    "hreflang.invalid",
    "A language link has an unknown code",
    Severity.MEDIUM,
    advice="Use a language, or a language and a region: `en`, `en-GB`.",
    source=sources.HREFLANG,
)
def invalid(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report tags that BCP 47 doesn't allow; accept `x-default`."""
    if not html.alternates:
        return None
    return [
        Evidence(_SELECTOR, each.language, "a tag of BCP 47", each.url or "")
        for each in html.alternates
        if each.language.lower() != _DEFAULT and not is_language(each.language)
    ]


@_HREFLANG.markup(
    "hreflang.duplicate",
    "Two pages are named for one language",
    Severity.MEDIUM,
    advice="Name one page for each language: search engines may ignore all of them.",
    source=sources.HREFLANG,
)
def duplicate(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report languages with different URLs; one URL may serve several languages."""
    if not html.alternates:
        return None
    targets: dict[str, dict[str, None]] = {}
    for each in html.alternates:
        targets.setdefault(each.language.strip().lower(), {})[each.url or each.href] = None
    return [
        Evidence(_SELECTOR, language, "1 address", url)
        for language, urls in targets.items()
        if len(urls) > 1
        for url in urls
    ]


@_HREFLANG.markup(
    "hreflang.relative",
    "A language link isn't absolute",
    Severity.MEDIUM,
    advice="Write the whole address, with https://.",
    source=sources.HREFLANG,
)
def relative(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report language links without an absolute URL, including empty ones."""
    if not html.alternates:
        return None
    return [
        Evidence(_SELECTOR, each.href or "(empty)", "https://…")
        for each in html.alternates
        if not is_absolute(each.href)
    ]


@_HREFLANG.page_in_site(
    "hreflang.no_return",
    "A page in another language doesn't link back",
    Severity.MEDIUM,
    advice="List all languages on each of the pages: links that aren't returned don't count.",
    source=sources.HREFLANG,
)
def no_return(page: PageNode, site: Site) -> Answer:
    """Check only pages that were read."""
    if not page.alternates:
        return None
    found = []
    for each in page.alternates:
        other = site.node(each.url) if each.url else None
        if other is None or other is page or other.kind is not PageKind.HTML:
            continue
        if len(other.alternates) >= MAX_FEW:
            continue  # the link back may not have been kept
        if not any(back.url and site.node(back.url) is page for back in other.alternates):
            found.append(Evidence(_SELECTOR, each.language, f"a link to {page.url}", other.url))
    return found


def _is_own(each: Alternate, page: PageFacts) -> bool:
    """Return whether a language link names the page itself, with or without a slash at the end."""
    return each.url is not None and (
        is_same(each.url, page.url) or is_same(each.url, page.final_url)
    )


@_HREFLANG.markup(
    "hreflang.no_self",
    "The page isn't among its own language links",
    Severity.LOW,
    advice="List the page itself with its language.",
    source=sources.HREFLANG,
)
def no_self(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages whose language links omit both the requested and the final URL."""
    if not html.alternates:
        return None
    there = any(_is_own(each, page) for each in html.alternates)
    if not there and not html.has_all_alternates:
        return UNKNOWN
    return [] if there else [Evidence(_SELECTOR, "(none)", page.final_url)]


@_HREFLANG.markup(
    "hreflang.no_xdefault",
    "There is no page for all other languages",
    Severity.LOW,
    advice="Add a link with hreflang=x-default.",
    source=sources.HREFLANG,
)
def no_default(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report language links without `x-default`."""
    if not html.alternates:
        return None
    there = any(each.language.lower() == _DEFAULT for each in html.alternates)
    if not there and not html.has_all_alternates:
        return UNKNOWN
    return [] if there else [Evidence(_SELECTOR, "(none)", _DEFAULT)]


@_HREFLANG.page_in_site(
    "hreflang.bad_target",
    "A language link leads to a page that can't be listed",
    Severity.MEDIUM,
    advice="Link to pages that answer, don't redirect and may be indexed.",
    source=sources.HREFLANG,
)
def bad_target(page: PageNode, site: Site) -> Answer:
    """Report targets that redirect, fail, or ask not to be indexed."""
    if not page.alternates:
        return None
    found = []
    for each in page.alternates:
        other = site.node(each.url) if each.url else None
        if not each.url or other is page:
            continue
        if site.redirect_of(each.url):
            found.append(Evidence(_SELECTOR, f"{each.language}: redirects", "", each.url))
        elif problem := site.failure_of(each.url):
            found.append(Evidence(_SELECTOR, f"{each.language}: {problem}", "200", each.url))
        elif other is not None and other.failure is ReadFailure.ROBOTS:
            found.append(Evidence(_SELECTOR, f"{each.language}: disallowed", "", other.url))
        elif other is not None and other.noindex:
            found.append(Evidence(_SELECTOR, f"{each.language}: noindex", "", other.url))
    return found


@_HREFLANG.markup(
    "hreflang.lang_mismatch",
    "The page's language link names another language than the page",
    Severity.LOW,
    advice="Make the lang attribute and the page's own language link agree.",
    source=sources.HREFLANG,
    after=("lang.missing", "hreflang.no_self"),
)
def lang_mismatch(page: PageFacts, html: HtmlFacts) -> Answer:
    """Compare the first subtags; a page may have several language links to itself."""
    own = [
        each.language.lower()
        for each in html.alternates
        if _is_own(each, page) and each.language.lower() != _DEFAULT
    ]
    if not own:
        return None
    lang = (html.lang or "").lower()
    if any(lang.partition("-")[0] == language.partition("-")[0] for language in own):
        return []
    return [Evidence("html[lang]", lang, own[0])]

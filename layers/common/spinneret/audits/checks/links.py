"""Checks of internal and external links."""

import re
from typing import Final
from urllib.parse import unquote

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import UNKNOWN, Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import host_of
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import MAX_ANCHORS, HtmlFacts, PageFacts, PageKind
from spinneret.audits.facts.site import LinkOutcome

_LINKS: Final = CheckDecorators(Category.LINKS)

MAX_CLICKS: Final = 4  # seonaut
MAX_LINKS: Final = 100  # seonaut, squirrelscan
_A: Final = "a[href]"

# Link texts that don't describe the target, as in Lighthouse 13.5 (link-text); the list extends it
# to nine languages.
_VAGUE: Final = frozenset(
    {
        *("click here", "click this", "go", "here", "information", "learn more", "more"),
        *("more info", "more information", "read more", "right here", "see more", "start", "this"),
        *("hier", "hier klicken", "klicken sie hier", "mehr", "mehr erfahren", "mehr lesen"),
        *("weiterlesen", "weitere informationen", "mehr infos", "cliquez ici", "ici", "en savoir"),
        *("en savoir plus", "lire la suite", "plus", "plus d'infos", "voir plus", "aquí"),
        *("haz clic aquí", "leer más", "más", "más información", "ver más", "saber más"),
        *("clicca qui", "qui", "leggi tutto", "leggi di più", "scopri di più", "altro"),
        *("clique aqui", "aqui", "leia mais", "saiba mais", "mais", "ver mais"),
        *("klik hier", "lees meer", "meer", "meer informatie", "kliknij tutaj", "tutaj"),
        *("czytaj więcej", "więcej", "dowiedz się więcej"),
        *("こちら", "詳細", "もっと見る", "続きを読む", "ここをクリック"),
    }
)
_LOCAL: Final = re.compile(r"localhost|.*\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1")
_TOP: Final = frozenset({"", "top"})


@_LINKS.page_in_site(
    "links.broken_internal",
    "Links lead to pages of the site that fail",
    Severity.HIGH,
    advice="Correct the links, or restore the pages.",
    source=sources.STATUS_CODES,
)
def broken_internal(page: PageNode, site: Site) -> Answer:
    """Check only links that were requested."""
    if not page.links:
        return None
    return [
        Evidence(_A, problem, "200", url)
        for url in site.urls_of(page.links)
        if (problem := site.failure_of(url))
    ]


@_LINKS.page_in_site(
    "links.broken_external",
    "Links lead to pages of other sites that fail",
    Severity.MEDIUM,
    advice="Correct the links or take them away.",
    source=sources.STATUS_CODES,
)
def broken_external(page: PageNode, site: Site) -> Answer:
    """Check only links that were requested; ignore responses that only block robots."""
    checked = _checked(page, site)
    if not checked:
        return UNKNOWN if page.external else None
    return [
        Evidence(_A, str(outcome.status or outcome.failure), "200", url)
        for url, outcome in checked
        if outcome.is_broken
    ]


@_LINKS.page_in_site(
    "links.external_redirect",
    "Links to other sites are redirected",
    Severity.LOW,
    advice="Link to where the redirect leads, if the page has moved for good.",
    source=sources.REDIRECTS,
)
def external_redirect(page: PageNode, site: Site) -> Answer:
    """Check only links that were requested."""
    checked = _checked(page, site)
    if not checked:
        return UNKNOWN if page.external else None
    return [
        Evidence(_A, url, outcome.redirected_to, url)
        for url, outcome in checked
        if outcome.redirected_to and not outcome.is_broken
    ]


@_LINKS.page_in_site(
    "links.fragment",
    "Links lead to a place that isn't on the page",
    Severity.LOW,
    advice="Correct the part behind #, or give the place its id.",
    source=sources.FRAGMENTS,
)
def fragment(page: PageNode, site: Site) -> Answer:
    """Check only pages that were read; targets created by scripts are unknown."""
    found, judged = [], False
    for number, written in page.fragments:
        name = unquote(written)
        target = site.settled(site.url_of(number))
        if target is None or target.kind is not PageKind.HTML or _is_of_a_script(name):
            continue
        if len(target.anchors) >= MAX_ANCHORS:
            continue  # the place may not have been kept
        judged = True
        is_there = not target.anchors.isdisjoint((hash(written), hash(name)))
        if name.lower() not in _TOP and not is_there:
            found.append(Evidence(_A, f"#{name}", "an id", target.url))
    return found if judged else None


def _is_of_a_script(name: str) -> bool:
    """Return whether a fragment is a route of a script, or text to be found (`#:~:text=…`)."""
    return name.startswith(("!", "/", ":~:")) or "=" in name


@_LINKS.page_in_site(
    "links.orphan",
    "No page links to this one",
    Severity.MEDIUM,
    advice="Link to the page from where readers would look for it.",
    source=sources.LINKS,
)
def orphan(page: PageNode, site: Site) -> Answer:
    """Report pages known only from a sitemap or redirect.

    Only audits that reached no limit are checked.
    """
    if page is site.start_node:
        return None
    if not (site.facts.is_whole and site.has_all_links):
        return UNKNOWN
    return [] if site.linked[page.url] else [Evidence("a[href] of other pages", "(none)", "1")]


@_LINKS.page_in_site(
    "links.dead_end",
    "The page links nowhere",
    Severity.LOW,
    advice="Link to where a reader may want to go on.",
    source=sources.LINKS,
)
def dead_end(page: PageNode, _: Site) -> Answer:
    """Report pages without links to other pages, internal or external."""
    return [] if page.links or page.external else [Evidence(_A, "(none)", "1")]


@_LINKS.page_in_site(
    "links.depth",
    "The page is many clicks from the start page",
    Severity.LOW,
    advice="Link to the page from higher up.",
    source=sources.LINKS,
    after=("links.orphan",),
)
def depth(page: PageNode, site: Site) -> Answer:
    """Count the shortest path over pages that were read."""
    clicks = site.clicks.get(page.url)
    if clicks is None:
        return UNKNOWN
    return [Evidence("start page", f"{clicks} clicks", "4")] if clicks > MAX_CLICKS else []


@_LINKS.markup(
    "links.too_many",
    "The page has very many links",
    Severity.LOW,
    advice="Group them, and link to the groups.",
    source=sources.LINKS,
)
def too_many(_: PageFacts, html: HtmlFacts) -> Answer:
    """Count distinct URLs."""
    count = len({link.url for link in html.links if link.url})
    return [Evidence(_A, f"{count} links", f"{MAX_LINKS}")] if count > MAX_LINKS else []


@_LINKS.markup(
    "links.nofollow",
    "Links within the site aren't to be followed",
    Severity.LOW,
    advice="Take nofollow off links to the site's own pages.",
    source=sources.NOFOLLOW,
)
def nofollow(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report nofollow links to the page's own host."""
    host = host_of(page.final_url)
    return [
        Evidence(_A, link.text, "without rel=nofollow", link.url)
        for link in html.links
        if link.nofollow and link.url and host_of(link.url) == host
    ]


@_LINKS.markup(
    "links.uncrawlable",
    "Links can't be followed by search engines",
    Severity.HIGH,
    advice="Give the links an address; what only a script does is a button.",
    source=sources.LINKS,
)
def uncrawlable(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report links without href, to scripts or files, or with an invalid URL."""
    return [
        Evidence(f"a: {link.text}" if link.text else "a", link.href or "(no href)", "a URL")
        for link in html.links
        if link.url is None and link.href not in ("", "#")
    ]


@_LINKS.markup(
    "links.text",
    "Link texts don't say where they lead",
    Severity.LOW,
    advice="Name the target in the link's text.",
    source=sources.LINK_TEXT,
)
def text(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report texts such as "click here", in nine languages; ignore links within the page."""
    return [
        Evidence(_A, link.text, "", link.url)
        for link in html.links
        if link.url and link.url != page.final_url and link.text.strip(" .…>»→!").lower() in _VAGUE
    ]


@_LINKS.markup(
    "links.empty",
    "Links have no text",
    Severity.MEDIUM,
    advice="Give the links a text, their images an alternative text, or a label to icons.",
    source=sources.LINK_NAME,
)
def empty(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report links without text, label or alternative text; ignore links within the page."""
    return [
        Evidence(_A, "(no text)", "", link.url)
        for link in html.links
        if link.url and link.url != page.final_url and not link.text and not link.hidden
    ]


@_LINKS.markup(
    "links.downgrade",
    "Links of a secure page lead to http",
    Severity.MEDIUM,
    weight=5,
    advice="Link to https.",
    source=sources.HTTPS,
    after=("sec.https",),
)
def downgrade(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report http links; `links.localhost` checks local URLs."""
    return [
        Evidence(_A, link.url, "https", link.url)
        for link in html.links
        if link.url and link.url.startswith("http:") and not _is_local(link.url)
    ]


@_LINKS.markup(
    "links.localhost",
    "Links lead to the reader's own machine",
    Severity.MEDIUM,
    advice="Replace the addresses, which come from a developer's machine.",
    source=sources.LINKS,
)
def localhost(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report local links, unless the page itself has a local URL."""
    if _is_local(page.final_url):
        return None
    return [
        Evidence(_A, link.url, "a public host", link.url)
        for link in html.links
        if link.url and _is_local(link.url)
    ]


def _is_local(url: str) -> bool:
    return _LOCAL.fullmatch(host_of(url)) is not None


@_LINKS.markup(
    "links.pagination",
    "The next page is named, but not linked",
    Severity.LOW,
    advice="Add a link that readers and search engines can follow.",
    source=sources.PAGINATION,
)
def pagination(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report `rel=next` and `rel=prev` of the head without a matching link."""
    if not html.pagination:
        return None
    if not html.has_all_links:
        return UNKNOWN
    linked = {link.url for link in html.links}
    return [
        Evidence("link[rel=next], link[rel=prev]", url, "a[href]", url)
        for url in html.pagination
        if url not in linked
    ]


def _checked(page: PageNode, site: Site) -> list[tuple[str, LinkOutcome]]:
    """Return the outcomes of the page's external links that were requested."""
    tried = site.facts.outcomes
    return [(url, tried[url]) for url in site.urls_of(page.external) if url in tried]

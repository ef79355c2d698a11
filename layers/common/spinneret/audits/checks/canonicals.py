"""Checks of canonical URLs."""

from collections import Counter
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import is_absolute, listed
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind, ReadFailure

_CANONICAL: Final = CheckDecorators(Category.CANONICAL)
_MISSING: Final = ("canonical.missing",)
_USABLE: Final = ("canonical.missing", "canonical.conflict", "canonical.invalid")
_SELECTOR: Final = "link[rel=canonical]"


@_CANONICAL.markup(
    "canonical.missing",
    "The page names no canonical address",
    Severity.MEDIUM,
    advice="Add a link with rel=canonical that names the page's own address.",
    source=sources.CANONICAL,
)
def missing(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages with neither a link element outside the body nor a Link header."""
    if html.canonicals or page.header_canonical:
        return []
    found = "in the body" if "link canonical" in html.body_metas else "(none)"
    return [Evidence(_SELECTOR, found)]


@_CANONICAL.markup(
    "canonical.conflict",
    "The page names several canonical addresses",
    Severity.HIGH,
    advice="Keep one: search engines may ignore them all.",
    source=sources.CANONICAL,
    after=_MISSING,
)
def conflict(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report link elements with different URLs."""
    different = dict.fromkeys(each.url or each.href for each in html.canonicals)
    return [Evidence(_SELECTOR, url) for url in different] if len(different) > 1 else []


@_CANONICAL.markup(
    "canonical.relative",
    "The canonical address isn't absolute",
    Severity.MEDIUM,
    advice="Write the whole address, with https://.",
    source=sources.CANONICAL,
    after=_MISSING,
)
def relative(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report relative link elements: on a mirror they name the mirror's page."""
    return [
        Evidence(_SELECTOR, each.href, "https://…")
        for each in html.canonicals
        if each.url and not is_absolute(each.href)
    ]


@_CANONICAL.markup(
    "canonical.invalid",
    "The canonical address isn't a URL",
    Severity.MEDIUM,
    advice="Correct the address.",
    source=sources.CANONICAL,
    after=_MISSING,
)
def invalid(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report URLs that are empty, or neither http nor https."""
    return [
        Evidence(_SELECTOR, each.href or "(empty)", "an absolute URL")
        for each in html.canonicals
        if each.url is None
    ]


@_CANONICAL.markup(
    "canonical.fragment",
    "The canonical address has a fragment",
    Severity.MEDIUM,
    advice="Leave out the part behind #: search engines ignore such an address.",
    source=sources.CANONICAL,
    after=_MISSING,
)
def fragment(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report link elements whose URL has a fragment, even an empty one."""
    return listed(_SELECTOR, (each.href for each in html.canonicals if "#" in each.href))


@_CANONICAL.page_in_site(
    "canonical.root",
    "The page names the start page as its canonical address",
    Severity.HIGH,
    advice="Name the page's own address: search engines drop the page otherwise.",
    source=sources.CANONICAL,
    after=_USABLE,
)
def root(page: PageNode, site: Site) -> Answer:
    """Report pages other than the start page and its copies, such as `/index.html`."""
    target = urlsplit(page.canonical or "")
    points_home = target.path in ("", "/") and not target.query
    own, start = urlsplit(page.url), site.start_node
    is_start = start is not None and page.fingerprint == start.fingerprint != ""
    inner = own.path not in ("", "/") and page is not start and not is_start
    if points_home and inner and target.hostname == own.hostname:
        return [Evidence(_SELECTOR, page.canonical or "", page.url)]
    return []


@_CANONICAL.page_in_site(
    "canonical.hreflang",
    "The canonical address is the page in another language",
    Severity.MEDIUM,
    advice="Each language's page is canonical for itself.",
    source=sources.HREFLANG,
    after=_USABLE,
)
def other_language(page: PageNode, site: Site) -> Answer:
    """Report a target that is listed with a different language than the page."""
    if not page.alternates:
        return None
    if not _other(page, site):
        return []
    own = {each.language.lower() for each in page.alternates if each.url == page.url}
    return [
        Evidence(_SELECTOR, page.canonical or "", page.url)
        for each in page.alternates[:100]
        if each.url == page.canonical
        and each.language.lower() != "x-default"
        and each.language.lower() not in own
    ][:1]


@_CANONICAL.markup(
    "canonical.header",
    "Header and markup name different canonical addresses",
    Severity.MEDIUM,
    advice="Keep one of the two, or make them equal.",
    source=sources.CANONICAL_RFC,
    after=_USABLE,
)
def header(page: PageFacts, html: HtmlFacts) -> Answer:
    """Check only pages that have both."""
    tag = html.canonicals[0].url if html.canonicals else None
    if tag is None or page.header_canonical is None:
        return None
    differ = tag != page.header_canonical
    return [Evidence("header: Link", page.header_canonical, tag)] if differ else []


def _other(page: PageNode, site: Site) -> str:
    """Return the canonical URL if it is another page's, else an empty string."""
    if page.canonical is None or page.canonical == page.url or site.node(page.canonical) is page:
        return ""
    return page.canonical


def _target(page: PageNode, site: Site, is_wrong: Callable[[PageNode], bool]) -> Answer:
    """Check only canonical URLs of other pages that were crawled."""
    url = _other(page, site)
    target = site.node(url) if url else None
    if target is None or not is_wrong(target):
        return []
    return [Evidence(_SELECTOR, url, page.url, target.final_url)]


@_CANONICAL.page_in_site(
    "canonical.to_redirect",
    "The canonical address redirects",
    Severity.MEDIUM,
    advice="Name the address that the redirect leads to.",
    source=sources.CANONICAL,
    after=_USABLE,
)
def to_redirect(page: PageNode, site: Site) -> Answer:
    """Check only canonical URLs that were requested."""
    url = _other(page, site)
    moved = site.redirect_of(url) if url else ""
    return [Evidence(_SELECTOR, url, page.url, moved)] if moved else []


@_CANONICAL.page_in_site(
    "canonical.to_error",
    "The canonical address fails",
    Severity.HIGH,
    advice="Name a page that answers.",
    source=sources.CANONICAL,
    after=_USABLE,
)
def to_error(page: PageNode, site: Site) -> Answer:
    """Check only canonical URLs that were requested."""
    url = _other(page, site)
    if not url or site.redirect_of(url):
        return []
    problem = site.failure_of(url)
    return [Evidence(_SELECTOR, f"{url} ({problem})", page.url, url)] if problem else []


@_CANONICAL.page_in_site(
    "canonical.to_noindex",
    "The canonical address mustn't be indexed",
    Severity.HIGH,
    advice="Name a page that search engines may list.",
    source=sources.CANONICAL,
    after=_USABLE,
)
def to_noindex(page: PageNode, site: Site) -> Answer:
    """Report targets that ask not to be indexed, or that robots.txt disallows."""
    return _target(
        page, site, lambda target: target.noindex or target.failure is ReadFailure.ROBOTS
    )


@_CANONICAL.page_in_site(
    "canonical.to_noncanonical",
    "The canonical address names another one in turn",
    Severity.MEDIUM,
    advice="Name the last address of the chain.",
    source=sources.CANONICAL,
    after=_USABLE,
)
def to_noncanonical(page: PageNode, site: Site) -> Answer:
    """Check only canonical URLs that were crawled."""
    return _target(
        page,
        site,
        lambda target: target.kind is PageKind.HTML and bool(_other(target, site)),
    )


@_CANONICAL.site(
    "canonical.drift",
    "Canonical addresses come in several forms",
    Severity.LOW,
    advice="Choose one scheme and one host, with or without www, and redirect the others to it.",
    source=sources.CANONICAL,
)
def drift(site: Site) -> Answer:
    """Report several schemes or hosts of internal canonical URLs, or `www` as a second host."""
    forms: Counter[str] = Counter()
    for node in site.pages:
        if node.canonical and site.is_internal(node.canonical):
            target = urlsplit(node.canonical)
            forms[f"{target.scheme}://{target.netloc}"] += 1
    found = [Evidence(_SELECTOR, f"{form} ({count} pages)") for form, count in forms.most_common()]
    other = site.facts.host.other_www_final_url
    start = site.start_node
    if other and start and urlsplit(other).hostname != urlsplit(start.url).hostname:
        return [*(found if len(forms) > 1 else []), Evidence("www", other, start.url)]
    return found if len(forms) > 1 else []

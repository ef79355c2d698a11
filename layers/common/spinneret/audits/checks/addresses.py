"""Checks of URL forms and of files for agents."""

import re
from typing import Final
from urllib.parse import urlsplit

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.reading import host_of
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts
from spinneret.web.exploring.traps import has_session_id
from spinneret.web.fetching.urls import parse_url

_URLS: Final = CheckDecorators(Category.URLS)
_AGENTS: Final = CheckDecorators(Category.AGENTS)

MAX_URL: Final = 100  # squirrelscan: 75 is long, 100 too long
MAX_PARAMETERS: Final = 3
"""More parameters multiply the URLs of one content."""
_FORMS: Final = (
    ("underscore", re.compile("_"), "hyphens"),
    ("space", re.compile("%20|[+]"), "hyphens"),
    ("double slash", re.compile("//"), "/"),
    ("upper case", re.compile("[A-Z]"), "lower case"),
    ("beyond ASCII", re.compile("%[89A-Fa-f][0-9A-Fa-f]"), "ASCII"),
)
_HINT: Final = re.compile(r"sess|sid|cfid|cftoken|zenid|[?&]s=|/\(", re.IGNORECASE)
"""Part of every URL with a session id: most URLs needn't be parsed."""
_ESCAPE: Final = re.compile("%[0-9A-Fa-f]{2}")


@_URLS.page(
    "url.form",
    "The address is hard to read or to pass on",
    Severity.LOW,
    advice="Use short addresses of lower-case words and hyphens, and redirect the old ones.",
    source=sources.URLS,
)
def form(page: PageFacts) -> Answer:
    """Report an unusual path, a long URL, or many parameters."""
    parts = urlsplit(page.final_url)
    found = []
    for name, pattern, instead in _FORMS:
        path = _ESCAPE.sub("", parts.path) if name == "upper case" else parts.path
        if pattern.search(path):
            found.append(Evidence("URL path", f"{name}: {parts.path}", instead))
    if len(page.final_url) > MAX_URL:
        found.append(Evidence("URL", f"{len(page.final_url)} characters", f"{MAX_URL}"))
    count = len([each for each in parts.query.split("&") if each])
    if count > MAX_PARAMETERS:
        found.append(Evidence("URL query", f"{count} parameters", f"{MAX_PARAMETERS}"))
    return found


@_URLS.markup(
    "url.session",
    "Addresses contain session ids",
    Severity.MEDIUM,
    advice="Keep sessions in cookies: each visitor gets an address of its own for the same page.",
    source=sources.URLS,
)
def session(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report the page's own URL and its links within the host, by well-known names of sessions."""
    host = host_of(page.final_url)
    links = (link.url for link in html.links if link.url and host_of(link.url) == host)
    return [
        Evidence("a[href]" if url != page.final_url else "URL", url, "no session id", url)
        for url in dict.fromkeys((page.final_url, *links))
        if _HINT.search(url) and has_session_id(parse_url(url))
    ]


@_AGENTS.site(
    "agents.llms_txt",
    "There is no usable llms.txt",
    Severity.INFO,
    advice="Nothing has to be done; the file tells language models what the site offers.",
    source=sources.LLMS_TXT,
)
def llms_txt(site: Site) -> Answer:
    """Report a missing file, or one without the heading that the proposal requires."""
    file = site.facts.llms_txt
    if not file.is_there:
        return [Evidence("/llms.txt", str(file.status or "no answer"), "200")]
    begins = file.content.lstrip("\ufeff \t\r\n").startswith("# ")
    return [] if begins else [Evidence("/llms.txt", file.content[:60].strip(), "# a heading")]

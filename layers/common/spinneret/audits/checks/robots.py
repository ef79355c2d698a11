"""Checks of the site's robots.txt."""

import re
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.site import Site
from spinneret.kernel import bounds

_ROBOTS: Final = CheckDecorators(Category.ROBOTS)
_THERE: Final = ("robots.unreachable", "robots.missing")

AI_CRAWLERS: Final = (
    *("GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-User", "Claude-SearchBot"),
    *("Google-Extended", "Applebot-Extended", "PerplexityBot", "CCBot", "Bytespider", "Amazonbot"),
    *("meta-externalagent",),
)
_KNOWN: Final = frozenset(
    {
        *("user-agent", "allow", "disallow", "sitemap", "crawl-delay", "clean-param", "host"),
        *("request-rate", "visit-time", "noindex", "content-signal"),
    }
)
"""Directives that Lighthouse 13.5 (robots-txt) accepts; Content-Signal is from an IETF draft."""
_RULES: Final = frozenset({"allow", "disallow"})
_ABSOLUTE: Final = re.compile(r"https?://[^/\s]+", re.IGNORECASE)
MAX_SHOWN: Final = 20


@_ROBOTS.site(
    "robots.unreachable",
    "robots.txt can't be read",
    Severity.CRITICAL,
    advice="Answer with the file or with 404: after server errors, crawlers stay away.",
    source=sources.ROBOTS_TXT,
)
def unreachable(site: Site) -> Answer:
    """Report a missing response or a server error."""
    file = site.facts.robots
    status = "no answer" if file.status is None else str(file.status)
    return [Evidence("/robots.txt", status, "200 or 404")] if file.is_unreachable else []


@_ROBOTS.site(
    "robots.missing",
    "There is no robots.txt",
    Severity.MEDIUM,
    advice="Publish a robots.txt, if only to name the sitemap.",
    source=sources.ROBOTS_TXT,
    after=("robots.unreachable",),
)
def missing(site: Site) -> Answer:
    """Report a status that is neither 2xx nor a server error; an empty file is valid."""
    file = site.facts.robots
    return [] if file.is_there else [Evidence("/robots.txt", str(file.status), "200")]


@_ROBOTS.site(
    "robots.syntax",
    "robots.txt has lines that crawlers can't use",
    Severity.MEDIUM,
    advice="Correct the lines: what a crawler doesn't understand, it leaves out.",
    source=sources.ROBOTS_TXT,
    after=_THERE,
)
def syntax(site: Site) -> Answer:
    """Report unknown directives, rules before any user agent, inner `$`, relative sitemaps."""
    found: list[Evidence] = []
    agent_named = False
    for number, line in enumerate(site.facts.robots.content.splitlines(), 1):
        text = line.partition("#")[0].strip().removeprefix("\ufeff")
        if not text:
            continue
        name, colon, value = (part.strip() for part in text.partition(":"))
        name = name.lower()
        agent_named = agent_named or name == "user-agent"
        problem = _problem(name, bool(colon), value, agent_named)
        if problem and len(found) < MAX_SHOWN:
            found.append(Evidence(f"line {number}", line.strip()[:200], problem))
    return found


def _problem(name: str, has_colon: bool, value: str, agent_named: bool) -> str:
    """Return the expected text; empty if the line is correct."""
    rules = (
        (not has_colon, "name: value"),
        (name not in _KNOWN, "a known directive"),
        (name == "user-agent" and not value, "a crawler's name"),
        (name in _RULES and not agent_named, "after a User-agent line"),
        (name in _RULES and value[:1] not in ("", "/", "*"), "a path that begins with /"),
        (name in _RULES and "$" in value[:-1], "$ at the end only"),
        (name == "sitemap" and not _ABSOLUTE.match(value), "an absolute URL"),
    )
    return next((expected for is_wrong, expected in rules if is_wrong), "")


@_ROBOTS.site(
    "robots.size",
    "robots.txt is larger than crawlers read",
    Severity.MEDIUM,
    advice="Shorten the file: crawlers may leave out what is beyond 500 KiB.",
    source=sources.ROBOTS_TXT,
    after=_THERE,
)
def size(site: Site) -> Answer:
    """Report files over 500 KiB, the minimum that crawlers read (RFC 9309, section 2.5)."""
    over = site.facts.robots.size > bounds.ROBOTS_MAX_BYTES
    return [Evidence("/robots.txt", f"{site.facts.robots.size} bytes", "500 KiB")] if over else []


@_ROBOTS.site(
    "robots.redirects",
    "robots.txt redirects too often",
    Severity.LOW,
    advice="Answer /robots.txt with the file itself.",
    source=sources.ROBOTS_TXT,
    after=("robots.unreachable",),
)
def redirects(site: Site) -> Answer:
    """Report over five redirects, the number that crawlers follow (RFC 9309, section 2.3.1.2)."""
    count = site.facts.robots.redirects
    over = count > bounds.ROBOTS_MAX_REDIRECTS
    return [Evidence("/robots.txt", f"{count} redirects", "5")] if over else []


@_ROBOTS.site(
    "robots.blocks_all",
    "robots.txt keeps everybody out of the whole site",
    Severity.CRITICAL,
    advice="Take `Disallow: /` away, unless nobody is meant to find the site.",
    source=sources.ROBOTS_TXT,
    after=("robots.unreachable",),
)
def blocks_all(site: Site) -> Answer:
    """Report if unnamed crawlers may fetch neither the root nor any page."""
    probes = ("/", "/a", "/a/b.html")
    shut = not any(site.robots.allows(path, "an-unnamed-crawler") for path in probes)
    return [Evidence("/robots.txt", "Disallow: /", "User-agent: *")] if shut else []


@_ROBOTS.site(
    "robots.ai_crawlers",
    "Crawlers of AI products are kept out",
    Severity.INFO,
    advice="Nothing has to be done; see that the list is what you want.",
    source=sources.ROBOTS_GOOGLE,
    after=_THERE,
)
def ai_crawlers(site: Site) -> Answer:
    """Report crawlers that may not read the start page."""
    start = site.facts.start_url
    return [
        Evidence("/robots.txt", f"User-agent: {agent}")
        for agent in AI_CRAWLERS
        if not site.robots.allows(start, agent)
    ]

"""Checks of encryption, and of headers that protect readers."""

import re
from datetime import timedelta
from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.reading import host_of, listed, moment
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts

_SECURITY: Final = CheckDecorators(Category.SECURITY)
_SECURE: Final = ("sec.https",)

MIN_HSTS_AGE: Final = 31_536_000  # Lighthouse 13.5 (has-hsts): a year
CERTIFICATE_LEFT: Final = timedelta(days=14)
"""Automatic renewal happens a month ahead, so two weeks before expiry it has failed."""
_MAX_AGE: Final = re.compile(r"max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_FRAMING: Final = frozenset({"deny", "sameorigin"})


@_SECURITY.page(
    "sec.https",
    "The page is sent unencrypted",
    Severity.CRITICAL,
    advice="Serve the site by https and redirect http to it.",
    source=sources.HTTPS,
)
def https(page: PageFacts) -> Answer:
    """Check the scheme of the final URL."""
    return [] if page.is_https else [Evidence("URL", page.final_url, "https")]


@_SECURITY.site(
    "sec.http_redirect",
    "http doesn't lead to https",
    Severity.MEDIUM,
    advice="Redirect every http address to its https one, permanently.",
    source=sources.HTTP_REDIRECT,
)
def http_redirect(site: Site) -> Answer:
    """Check only the host's root."""
    final = site.facts.host.http_final_url
    if final is None:
        return None
    return [] if final.startswith("https:") else [Evidence("http://", final, "https://")]


@_SECURITY.site(
    "sec.certificate",
    "The certificate is about to end",
    Severity.MEDIUM,
    advice="Renew it, and see why it wasn't renewed by itself.",
    source=sources.CERTIFICATE,
)
def certificate(site: Site) -> Answer:
    """Report a certificate that expires in less than two weeks."""
    end = moment(site.facts.host.certificate_ends_at or "")
    if end is None or site.now is None:
        return None
    soon = end - site.now < CERTIFICATE_LEFT
    return [Evidence("certificate", end.date().isoformat(), "14 days ahead")] if soon else []


@_SECURITY.markup(
    "sec.mixed",
    "A secure page loads parts of it unencrypted",
    Severity.HIGH,
    advice="Load everything by https.",
    source=sources.MIXED,
    after=_SECURE,
)
def mixed(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check scripts, styles, images, frames, media."""
    return [Evidence("[src], link[href]", url, "https", url) for url in html.subresources]


@_SECURITY.page(
    "sec.hsts",
    "Browsers aren't instructed to use only https",
    Severity.LOW,
    advice="Send Strict-Transport-Security with a max-age of a year.",
    source=sources.HSTS,
    after=_SECURE,
)
def hsts(page: PageFacts) -> Answer:
    """Report a missing header, or one for less than a year."""
    value = page.header("strict-transport-security") or ""
    age = _MAX_AGE.search(value)
    if age and int(age[1]) >= MIN_HSTS_AGE:
        return []
    bound = f"max-age={MIN_HSTS_AGE}"
    return [Evidence("header: Strict-Transport-Security", value or "(none)", bound)]


@_SECURITY.markup(
    "sec.csp",
    "Nothing restricts the scripts of the page",
    Severity.LOW,
    advice="Send a Content-Security-Policy with script-src by nonces or hashes.",
    source=sources.CSP,
)
def csp(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report pages without a policy against inline scripts; all policies apply together."""
    given = f"{page.header('content-security-policy') or ''},{html.policy or ''}"
    policies = [policy for policy in given.split(",") if policy.strip()]
    faults = [_script_fault(policy) for policy in policies or [""]]
    return [] if None in faults else [fault for fault in faults if fault][:1]


def _script_fault(policy: str) -> Evidence | None:
    where = "header: Content-Security-Policy"
    directives = _directives(policy)
    scripts = directives.get("script-src", directives.get("default-src"))
    if scripts is None:
        return Evidence(where, policy.strip() or "(none)", "script-src")
    guarded = any(s.startswith(("'nonce-", "'sha256-", "'sha384-", "'sha512-")) for s in scripts)
    if "'unsafe-inline'" in scripts and not guarded:
        return Evidence(where, "'unsafe-inline'", "nonces or hashes")
    return None


def _directives(policy: str) -> dict[str, list[str]]:
    """Return the directives of all policies as one, the first of each name."""
    parts = [part.split() for part in policy.lower().replace(",", ";").split(";")]
    return {part[0]: part[1:] for part in reversed(parts) if part}


@_SECURITY.page(
    "sec.nosniff",
    "Browsers may guess media types",
    Severity.LOW,
    advice="Send X-Content-Type-Options: nosniff.",
    source=sources.NOSNIFF,
)
def nosniff(page: PageFacts) -> Answer:
    """Accept only the value `nosniff`."""
    value = page.header("x-content-type-options") or ""
    fits = value.partition(",")[0].strip().lower() == "nosniff"
    return (
        [] if fits else [Evidence("header: X-Content-Type-Options", value or "(none)", "nosniff")]
    )


@_SECURITY.page(
    "sec.framing",
    "Other sites may show the page in a frame",
    Severity.LOW,
    advice="Send Content-Security-Policy: frame-ancestors 'self', or X-Frame-Options.",
    source=sources.FRAMING,
)
def framing(page: PageFacts) -> Answer:
    """Report pages without either header; a policy in the markup has no effect."""
    value = page.header("x-frame-options") or ""
    directives = _directives(page.header("content-security-policy") or "")
    if value.partition(",")[0].strip().lower() in _FRAMING or "frame-ancestors" in directives:
        return []
    return [Evidence("header: X-Frame-Options", value or "(none)", "DENY or SAMEORIGIN")]


@_SECURITY.markup(
    "sec.form",
    "A form is sent unencrypted",
    Severity.MEDIUM,
    weight=6,
    advice="Send the form to an https address.",
    source=sources.FORMS,
    after=_SECURE,
)
def form(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report forms with an http address, for any method."""
    if not html.forms:
        return None
    return [
        Evidence("form[action]", each.url, "https", each.url)
        for each in html.forms
        if each.url and each.url.startswith("http:")
    ]


@_SECURITY.page(
    "sec.cookies",
    "Cookies lack protection",
    Severity.MEDIUM,
    weight=5,
    advice="Set Secure, HttpOnly and SameSite, but for cookies that a script has to read.",
    source=sources.COOKIES,
    after=_SECURE,
)
def cookies(page: PageFacts) -> Answer:
    """Check only cookies that the page's own response sets."""
    if not page.cookies:
        return None
    found = []
    for cookie in page.cookies:
        lacking = [
            name
            for name, there in (
                ("Secure", cookie.secure),
                ("HttpOnly", cookie.http_only),
                ("SameSite", cookie.same_site),
            )
            if not there
        ]
        if lacking:
            found.append(Evidence("header: Set-Cookie", cookie.name, ", ".join(lacking)))
    return found


@_SECURITY.markup(
    "sec.noopener",
    "New windows may control the page that opened them",
    Severity.MEDIUM,
    weight=4,
    advice="Add rel=noopener to links with target=_blank.",
    source=sources.NOOPENER,
)
def noopener(page: PageFacts, html: HtmlFacts) -> Answer:
    """Check links to other hosts; browsers before 2021 don't imply noopener."""
    host = host_of(page.final_url)
    wrong = [
        link.url
        for link in html.links
        if link.unsafe_blank and link.url and host_of(link.url) != host
    ]
    return listed("a[target=_blank]", wrong, "rel=noopener")

"""Links of a page."""

import re
from collections.abc import Iterator
from typing import Final

from lxml import html

from spinneret.audits.facts.markup import MAX_VALUE_CHARS, Markup, relations_of
from spinneret.audits.facts.models import Link
from spinneret.audits.facts.text import spoken_texts

_SCHEME: Final = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_CREDENTIALS: Final = re.compile(r"//[^/@\s]*@")
_FOLLOWED: Final = frozenset({"http", "https", "javascript", "file"})
# Cloudflare puts this into the place of mailto: links. A script restores them; it answers 404.
_HIDDEN_ADDRESS: Final = "/cdn-cgi/l/email-protection"
# Attributes of links. Lighthouse (crawlable-anchors) takes an `a` with none of them, which the HTML
# standard calls a placeholder, for a link only if a script listens to it.
_OF_LINKS: Final = (
    *("onclick", "target", "download", "ping", "rel", "hreflang", "type", "referrerpolicy"),
)
# A script operates an `a` with such a role, so it isn't a link to follow.
_CONTROL_ROLES: Final = frozenset({"button", "tab", "menuitem", "option", "switch", "checkbox"})


def links_of(markup: Markup) -> Iterator[Link]:
    """Yield the links that readers or scripts may follow."""
    for element, text in spoken_texts(markup.root, ("a", "area")).items():
        href = element.get("href")
        if href is None:
            href = element.get("xlink:href")
        if (element.get("role") or "").strip().lower() in _CONTROL_ROLES:
            continue
        if href is None and not _is_meant_as_link(element):
            continue
        if _HIDDEN_ADDRESS in (href or ""):
            continue
        scheme = _SCHEME.match(href or "")
        if scheme and scheme[1].lower() not in _FOLLOWED:
            continue
        yield _link(markup, element, href, text)


def _is_meant_as_link(element: html.HtmlElement) -> bool:
    """Return whether an `a` without `href` is no placeholder, target of links, or empty element."""
    if element.get("id") or element.get("name"):
        return False
    is_full = len(element) > 0 or bool((element.text or "").strip())
    return is_full and any(element.get(name) is not None for name in _OF_LINKS)


def _link(markup: Markup, element: html.HtmlElement, href: str | None, text: str) -> Link:
    bare, _, fragment = (href or "").strip().partition("#")
    url = markup.resolved(bare) if bare else (markup.base.text if fragment else None)
    relations = relations_of(element)
    return Link(
        url=url,
        href=None
        if url is not None or href is None
        else _CREDENTIALS.sub("//…@", href[:MAX_VALUE_CHARS]),
        fragment=fragment[:MAX_VALUE_CHARS] if url is not None else "",
        text=text or markup.labels(element),
        nofollow=not relations.isdisjoint({"nofollow", "ugc", "sponsored"}),
        unsafe_blank=(element.get("target") or "").lower() == "_blank"
        and relations.isdisjoint({"noopener", "noreferrer"}),
        hidden=element.get("aria-hidden") == "true",
    )

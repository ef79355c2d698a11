"""Names of HTML, ARIA and common style classes for the parts of a page."""

from typing import Final

# One name per line would take too much space.
# fmt: off
BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav",
    "noscript", "ol", "optgroup", "option", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
})
"""Elements that start on a new line."""

HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
"""Heading levels by tag."""

UNSEEN: Final = frozenset({
    "script", "style", "template", "svg", "iframe", "object", "canvas", "video", "audio", "map",
    "head", "annotation", "annotation-xml",
})
"""Elements whose text doesn't belong to the page's text."""

CONTROLS: Final = frozenset({
    "select", "datalist", "textarea", "input", "button",
})
"""Elements that a reader operates."""

CHROME_TAGS: Final = frozenset({
    "nav", "footer", "menu", "dialog", "aside",
})
"""Tags of elements around the content."""

CHROME_ROLES: Final = frozenset({
    "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar",
    "tablist", "toolbar", "alert", "status", "complementary",
})
"""ARIA roles of elements around the content."""

CHROME_NAMES: Final = frozenset({
    "nav", "navbar", "navigation", "topnav", "subnav", "menu", "megamenu", "submenu", "footer",
    "breadcrumb", "breadcrumbs", "cookie", "cookies", "cookiebar", "consent", "gdpr", "sidebar",
    "share", "sharing", "sharebar", "social", "newsletter", "subscribe", "popup", "modal",
    "offcanvas", "drawer", "advert", "advertisement", "ads", "ad", "sponsored", "skip",
    "skiplink", "related", "recommended", "recommendations", "recommendation", "pagination",
    "pager", "toolbar", "login", "signup", "signin", "topbar", "banner", "promo", "masthead",
    "siteheader", "pageheader", "siteinfo", "sronly", "screenreader", "visuallyhidden",
})
"""Words in classes or ids of elements around the content, including joined words (`skip-link`)."""
# fmt: on

"""Names of HTML, ARIA and of what stylesheets commonly call the parts of a page."""

from __future__ import annotations

from typing import Final

# One name per line would fill pages.
# fmt: off
BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav",
    "noscript", "ol", "optgroup", "option", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
})
"""Elements that stand on lines of their own."""

HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
"""By level."""

UNSEEN: Final = frozenset({
    "script", "style", "template", "svg", "iframe", "object", "canvas", "video", "audio", "map",
    "head", "annotation", "annotation-xml",
})
"""Elements whose text isn't the page's."""

CONTROLS: Final = frozenset({
    "select", "datalist", "textarea", "input", "button",
})
"""Elements that a reader operates."""

CHROME_TAGS: Final = frozenset({
    "nav", "footer", "menu", "dialog", "aside",
})
"""Elements around the content, by their own meaning …"""

CHROME_ROLES: Final = frozenset({
    "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar",
    "tablist", "toolbar", "alert", "status", "complementary",
})
"""… by their ARIA role …"""

CHROME_NAMES: Final = frozenset({
    "nav", "navbar", "navigation", "topnav", "subnav", "menu", "megamenu", "submenu", "footer",
    "breadcrumb", "breadcrumbs", "cookie", "cookies", "cookiebar", "consent", "gdpr", "sidebar",
    "share", "sharing", "sharebar", "social", "newsletter", "subscribe", "popup", "modal",
    "offcanvas", "drawer", "advert", "advertisement", "ads", "ad", "sponsored", "skip",
    "skiplink", "related", "recommended", "recommendations", "recommendation", "pagination",
    "pager", "toolbar", "login", "signup", "signin", "topbar", "banner", "promo", "masthead",
    "siteheader", "pageheader", "siteinfo", "sronly", "screenreader", "visuallyhidden",
})
"""… or by a word of their class or id, also of two words joined (`skip-link`)."""
# fmt: on

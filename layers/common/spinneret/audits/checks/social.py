"""Checks of previews in social networks."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.reading import is_same
from spinneret.audits.facts.models import HtmlFacts, PageFacts

_SOCIAL: Final = CheckDecorators(Category.SOCIAL)

REQUIRED: Final = ("og:title", "og:type", "og:image", "og:url")  # ogp.me, basic metadata
WANTED: Final = ("og:description", "twitter:card")  # squirrelscan
IMAGE_SIZE: Final = ("1200", "630")


@_SOCIAL.markup(
    "social.og",
    "The preview for social networks is incomplete",
    Severity.LOW,
    weight=3,
    advice="Add the properties; og:url is the canonical address, the image has 1200 x 630 pixels.",
    source=sources.OPEN_GRAPH,
)
def open_graph(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report missing properties, a different URL, or an unusual image size."""
    social = dict(html.social)
    found = [
        Evidence(f"meta[property='{name}']", "(none)")
        for name in (*REQUIRED, *WANTED)
        if name not in social
    ]
    canonical = html.canonicals[0].url if html.canonicals else None
    url = social.get("og:url")
    if url and canonical and not is_same(url, canonical):
        found.append(Evidence("meta[property='og:url']", url, canonical))
    size = (social.get("og:image:width"), social.get("og:image:height"))
    if all(size) and size != IMAGE_SIZE:
        found.append(Evidence("meta[property='og:image']", f"{size[0]} x {size[1]}", "1200 x 630"))
    return found

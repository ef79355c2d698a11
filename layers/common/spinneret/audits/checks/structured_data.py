"""Checks of structured data."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts

_SCHEMA: Final = CheckDecorators(Category.STRUCTURED_DATA)

REQUIRED: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "Product": (("name",), ("offers", "review", "aggregateRating")),
    "Offer": (("price", "priceSpecification"),),
    "AggregateOffer": (("lowPrice",),),
    **dict.fromkeys(("Article", "NewsArticle", "BlogPosting"), ()),
    "BreadcrumbList": (("itemListElement",),),
    "Event": (("name",), ("startDate",), ("location",)),
    "FAQPage": (("mainEntity",),),
    "QAPage": (("mainEntity",),),
    "JobPosting": (("title",), ("description",), ("datePosted",), ("hiringOrganization",)),
    "LocalBusiness": (("name",), ("address",)),
    "Recipe": (("name",), ("image",)),
    "VideoObject": (("name",), ("thumbnailUrl",), ("uploadDate",)),
    "SoftwareApplication": (("name",), ("offers",), ("aggregateRating", "review")),
    "Course": (("name",), ("description",)),
    "Dataset": (("name",), ("description",)),
    "Movie": (("name",), ("image",)),
}
"""Properties that Google's search gallery requires of each type, one of each group; none of
articles."""


@_SCHEMA.markup(
    "schema.jsonld",
    "Structured data can't be read",
    Severity.MEDIUM,
    weight=5,
    advice="Correct the JSON, best by letting a library write it.",
    source=sources.STRUCTURED,
)
def unreadable(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report JSON-LD that doesn't parse."""
    if not html.structured:
        return None
    return [
        Evidence("script[type='application/ld+json']", each.error)
        for each in html.structured
        if each.error
    ]


@_SCHEMA.markup(
    "schema.required",
    "Structured data lack required properties",
    Severity.MEDIUM,
    weight=5,
    advice="Add the properties: without them, no rich result is shown.",
    source=sources.RICH_RESULTS,
    after=("schema.jsonld",),
)
def required(_: PageFacts, html: HtmlFacts) -> Answer:
    """Check types with rich results only; skip references, which have no properties."""
    things = [
        (each, name)
        for each in html.structured
        for name in each.types
        if name in REQUIRED and each.properties
    ]
    if not things:
        return None
    return [
        Evidence(f"{each.syntax}: {name}", "(missing)", " or ".join(group))
        for each, name in things
        for group in REQUIRED[name]
        if not set(group) & set(each.properties)
    ]


@_SCHEMA.page_in_site(
    "schema.noindexed",
    "Structured data are on a page that can't be listed",
    Severity.HIGH,
    weight=8,
    advice="Allow the page to be indexed, or take the data away.",
    source=sources.STRUCTURED,
)
def noindexed(page: PageNode, site: Site) -> Answer:
    """Check types with rich results only."""
    rich = [name for name in page.structured if name in REQUIRED]
    if not rich:
        return None
    if page.noindex:
        return [Evidence(f"structured data: {rich[0]}", "noindex")]
    if site.is_disallowed(page.url):
        return [Evidence(f"structured data: {rich[0]}", "robots.txt")]
    return []

"""Pages that look faulty but aren't: an audit of the good site with each of them finds nothing."""

# covers A-02

import io
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from spinneret.audits.facts.models import PageFacts
from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.facts.sitemaps import read_sitemap
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import AuditEvaluator
from tests.unit.audits.site import (
    GOOD_OUTCOMES,
    GOOD_PAGES,
    HOST,
    Page,
    alternates,
    good_site_facts,
    json_ld,
    words,
)

TWIN = f"{HOST}/twin"
WOOD = "\u6a39\u6728\u3068\u6728\u6750\u306e\u8a71"  # seven wide characters
SELF = alternates(en=TWIN, x_default=TWIN)
OFFER = {"@type": "Offer", "price": 0, "priceCurrency": "EUR"}

TWINS: dict[str, dict[str, Any]] = {
    "a short title of wide characters": {"title": f"{WOOD} | Timber"},
    "a heading that is an image": {"h1": '<img src="/oak.jpg" alt="Oaks" width="4" height="3">'},
    "a room with the number 404": {"title": "Room 404 of the oak hotel | Timber", "words": 210},
    "trees that are not found": {"title": "Trees not found in Europe | Timber", "words": 210},
    "structured data in a CDATA section": {
        "head": '<script type="application/ld+json">//<![CDATA[\n'
        '{"@type": "Article", "headline": "Oak"}\n//]]></script>'
    },
    "a page that only reloads itself": {"head": '<meta http-equiv="refresh" content="300">'},
    "a refresh for browsers without scripts": {
        "head": '<noscript><meta http-equiv="refresh" content="0; url=/oak"></noscript>'
    },
    "a link of an icon with a label": {"body": '<a href="/oak" aria-label="Oaks"><i></i></a>'},
    "a link of an image": {
        "body": '<a href="/oak"><img src="/oak.jpg" alt="Oaks" width="4" height="3"></a>'
    },
    "a link that only repeats another": {"body": '<a href="/oak" aria-hidden="true"></a>'},
    "a short parameter called s": {"body": '<a href="/oak?s=5">Oaks by size</a>'},
    "two languages of one page": {
        "head": SELF + alternates(en_GB=TWIN, en_US=TWIN),
    },
    "a language of three letters": {"lang": "fil", "head": alternates(fil=TWIN, x_default=TWIN)},
    "a product that costs nothing": {
        "head": json_ld(**{"@type": "Product", "name": "Oak", "offers": [OFFER]})
    },
    "an event whose offer has no price": {
        "head": json_ld(
            **{
                "@type": "Event",
                "name": "Oaks",
                "startDate": "2026-12-01",
                "location": "Wood",
                "offers": {"@type": "Offer", "url": "/"},
            }
        )
    },
    "secure images in sets and styles": {
        "body": '<p style="background:url(https://cdn.example/a.png)">Oaks</p>'
        '<img src="/oak.jpg" srcset="/oak.jpg 1x" alt="Oaks" width="4" height="3">'
    },
    "an image button with a text": {
        "body": '<input type="image" src="/oak.jpg" alt="Go" width="4" height="3">'
    },
    "an article about filler texts": {
        "title": "What lorem ipsum means | Timber",
        "body": "<p>Lorem ipsum dolor sit amet.</p>",
    },
    "a text with the same menu as others": {
        "body": "".join(f'<a href="/oak">{words(8, n)}</a>' for n in range(40))
    },
}


@pytest.mark.parametrize("parts", TWINS.values(), ids=TWINS.keys())
def test_nothing_is_found_on_a_clean_twin(parts: dict[str, Any]) -> None:
    assert _found(Page(path="/twin", **parts)) == set()


def test_a_sitemap_may_write_urls_in_cdata_sections() -> None:
    text = f"<urlset><url><loc><![CDATA[{TWIN}]]></loc></url></urlset>"
    assert [each.url for each in read_sitemap(TWIN, text.encode()).entries] == [TWIN]


def test_one_redirect_is_no_chain() -> None:
    assert _found(Page(path="/twin", redirect=("/moved",))) == set()


START, *REST = GOOD_PAGES
AROUND = (replace(START, links=(*START.links, "/twin")), *REST)


@cache
def _around() -> list[PageFacts]:
    """Return the facts of the good site, whose start page links to the twin."""
    return [facts for page in AROUND for facts in page.facts()]


def _found(twin: Page) -> set[tuple[str, str]]:
    log = FindingLog(io.BytesIO())
    audit = AuditEvaluator(f"{HOST}/", log.add)
    for facts in (*_around(), *twin.facts()):
        audit.page(facts)
    outcomes = {**GOOD_OUTCOMES, f"{HOST}/oak?s=5": LinkOutcome(200)}
    audit.finish(replace(good_site_facts((*AROUND, twin)), outcomes=outcomes))
    return {finding.key for finding in log}

"""Checks of images."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import UNKNOWN, Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import PAGES, HtmlFacts, PageFacts
from spinneret.audits.facts.site import LinkOutcome

_IMAGES: Final = CheckDecorators(Category.IMAGES)

MAX_ALT: Final = 100  # seonaut; squirrelscan: 125
MAX_BYTES: Final = 500_000  # seonaut; squirrelscan warns from 200 kB


@_IMAGES.markup(
    "img.alt",
    "Images have no alternative text",
    Severity.MEDIUM,
    advice='Describe the image in its alt attribute; alt="" for a decoration.',
    source=sources.ALT,
)
def alt(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report images without the attribute or any other name."""
    if not html.images:
        return None
    return [Evidence("img", "(no alt)", "", i.url or "") for i in html.images if i.alt is None]


@_IMAGES.markup(
    "img.alt_long",
    "Alternative texts are very long",
    Severity.LOW,
    advice="Say in 100 characters what the image shows; the rest belongs into the text.",
    source=sources.ALT,
    after=("img.alt",),
)
def alt_long(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report texts of more than 100 characters."""
    if not html.images:
        return None
    return [
        Evidence("img[alt]", each.alt, f"{MAX_ALT} characters", each.url or "")
        for each in html.images
        if each.alt is not None and len(each.alt) > MAX_ALT
    ]


def _checked(page: PageNode, site: Site) -> list[tuple[str, str, LinkOutcome]]:
    return [
        (where, url, outcome)
        for where, url in site.images_of(page)
        if (outcome := site.facts.outcomes.get(url)) is not None
    ]


def _unasked(page: PageNode) -> Answer:
    return UNKNOWN if page.images or page.image_files else None


@_IMAGES.page_in_site(
    "img.size",
    "Image files are very large",
    Severity.LOW,
    advice="Scale the images to the size that they are shown in, as WebP or AVIF.",
    source=sources.IMAGE_SIZE,
    after=("img.broken",),
)
def size(page: PageNode, site: Site) -> Answer:
    """Check only images whose size is known."""
    known = [(where, url, each.size) for where, url, each in _checked(page, site)]
    sized = [(where, url, size) for where, url, size in known if size is not None]
    if not sized:
        return _unasked(page)
    return [
        Evidence(where, f"{size} bytes", "500 kB", url)
        for where, url, size in sized
        if size > MAX_BYTES
    ]


@_IMAGES.page_in_site(
    "img.broken",
    "Images can't be loaded",
    Severity.HIGH,
    weight=6,
    advice="Correct the addresses, or restore the files.",
    source=sources.IMAGES,
)
def broken(page: PageNode, site: Site) -> Answer:
    """Check only images that were requested; a page instead of an image is a fault, too."""
    checked = _checked(page, site)
    if not checked:
        return _unasked(page)
    return [
        Evidence(where, str(outcome.status or outcome.failure), "200", url)
        for where, url, outcome in checked
        if outcome.is_broken
    ] + [
        Evidence(where, outcome.media_type, "an image", url)
        for where, url, outcome in checked
        if not outcome.is_broken and not outcome.is_unknown and outcome.media_type in PAGES
    ]


@_IMAGES.markup(
    "img.dimensions",
    "Images don't say their size",
    Severity.LOW,
    weight=4,
    advice="Give them width and height, so that the text doesn't jump when they come.",
    source=sources.DIMENSIONS,
)
def dimensions(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report images with neither attributes nor an inline style for their size.

    Checking style sheets would need a browser.
    """
    if not html.images:
        return None
    return [
        Evidence("img", "(no width and height)", "", each.url or "")
        for each in html.images
        if not each.sized
    ]


@_IMAGES.markup(
    "img.picture",
    "Picture elements have no image",
    Severity.MEDIUM,
    weight=6,
    advice="Put an img into each picture: without it, nothing is shown.",
    source=sources.PICTURE,
)
def picture(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report picture elements without an `img`, which displays their sources."""
    count = html.pictures_without_img
    return [Evidence("picture", f"{count} without img", "0")] if count else []

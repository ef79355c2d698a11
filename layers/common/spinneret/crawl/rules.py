"""Rules for the pages that a crawl accepts."""

from itertools import islice
from typing import Final

from spinneret.content.extraction.models import UNKNOWN, Content
from spinneret.crawl import limits
from spinneret.kernel.errors import ContentRefused

LANGUAGES: Final = frozenset({"en", UNKNOWN})  # C-02 and ruling "Content"


def require_suited(content: Content) -> None:
    """Raise ContentRefused for unsuitable content.

    The details name the reason: `too_short` or `language`.
    """
    letters = filter(str.isalnum, content.text)
    if len(list(islice(letters, limits.PAGE_MIN_LETTERS))) < limits.PAGE_MIN_LETTERS:
        raise ContentRefused("the page has too little text", details={"reason": "too_short"})
    if content.language not in LANGUAGES:
        raise ContentRefused(
            f"the page isn't in English but in {content.language}",
            details={"reason": "language", "language": content.language},
        )

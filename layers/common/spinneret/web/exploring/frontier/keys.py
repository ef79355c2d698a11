"""Keys and sort orders of the frontier's rows, so that no adapter builds them by hand."""

import hashlib
import re
from typing import Final

from spinneret.web.exploring.frontier.models import CrawlRef, FrontierPage, PageState

CRAWL_ROW: Final = "CRAWL"
PAGE_PREFIX: Final = "URL#"
_LINKS_PREFIX: Final = "LINKS#"
_QUOTA_PREFIX: Final = "QUOTA#"
_CONTENT_PREFIX: Final = "SAME#"

_KEY_HEX: Final = 32  # 128 bits
_POSITION: Final = re.compile(r"[0-9a-f]{32}(?:/[A-Z0-9.#]{3,60})?")


def key_of(identity: str) -> str:
    """Return the key of a page with this identity."""
    return hashlib.sha256(identity.encode()).hexdigest()[:_KEY_HEX]


def partition(ref: CrawlRef) -> str:
    """Return the partition key of a crawl; tenants and ids contain no `#`."""
    return f"T#{ref.tenant}#CRAWL#{ref.crawl_id}"


def crawl_key(ref: CrawlRef) -> dict[str, str]:
    """Return the primary key of the crawl's own row."""
    return {"pk": partition(ref), "sk": CRAWL_ROW}


def page_key(ref: CrawlRef, key: str) -> dict[str, str]:
    """Return the primary key of a page's row."""
    return {"pk": partition(ref), "sk": f"{PAGE_PREFIX}{key}"}


def links_key(ref: CrawlRef, key: str, fence: int, chunk: int) -> dict[str, str]:
    """Return the primary key of one chunk of a page's links."""
    return {"pk": partition(ref), "sk": f"{_LINKS_PREFIX}{key}#{fence:06}#{chunk:04}"}


def quota_key(ref: CrawlRef, quota: str) -> dict[str, str]:
    """Return the primary key of a quota's counter; it holds a hash, since names are arbitrary."""
    return {"pk": partition(ref), "sk": f"{_QUOTA_PREFIX}{key_of(quota)}"}


def content_key(ref: CrawlRef, content_hash: str) -> dict[str, str]:
    """Return the primary key of the first page with a content; hashes are arbitrary text."""
    return {"pk": partition(ref), "sk": f"{_CONTENT_PREFIX}{key_of(content_hash)}"}


_STATE_MARKS: Final = {
    PageState.WAITING: "W",
    PageState.OPEN: "O",
    PageState.FETCHED: "M",
    PageState.CRAWLED: "C",
    PageState.FAILED: "F",
    PageState.DUPLICATE: "D",
}


def state_prefix(state: PageState) -> str:
    """Return the prefix of the index places of all pages in a state."""
    return f"{_STATE_MARKS[state]}#"


def place_of(page: FrontierPage) -> str:
    """Return the sort key of a page within its state.

    The key is the rank while the page waits, else batch and position.
    """
    order = page.rank
    if page.state is not PageState.WAITING:
        order = f"{page.batch:06}.{page.position:02}"
    return state_prefix(page.state) + order


def is_position(text: str) -> bool:
    """Whether this text can be a position in a list of pages; clients send positions."""
    return _POSITION.fullmatch(text) is not None


def is_position_in(state: PageState | None, text: str) -> bool:
    """Whether it is a position in the list of that state; None means the list of all pages."""
    if not is_position(text):
        return False
    place = parts_of(text)[1]
    return not place if state is None else place.startswith(state_prefix(state))


def position_of(key: str, place: str | None) -> str:
    """Return the position after this page, in the order of places or, without a place, of keys."""
    return key if place is None else f"{key}/{place}"


def parts_of(position: str) -> tuple[str, str]:
    """Return key and place of a position."""
    key, _, place = position.partition("/")
    return key, place

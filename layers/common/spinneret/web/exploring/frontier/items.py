"""Convert the frontier's values to DynamoDB items and back."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from spinneret.aws.codec import SPARSE, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier import keys
from spinneret.web.exploring.frontier.changes import CounterDelta
from spinneret.web.exploring.frontier.models import Crawl, FrontierPage, LinkCandidate, Plan


def purge_at(crawl: Crawl) -> int:
    """Return the TTL of a crawl's rows: 30 days after its end at the latest.

    After the end only the crawl's own row has the exact moment. Without it no other row is shown.
    """
    end = crawl.ended_at or crawl.begun_at + timedelta(seconds=bounds.FRONTIER_SECONDS)
    return epoch_seconds(end + timedelta(seconds=bounds.JOB_RETENTION_SECONDS))


def crawl_state(crawl: Crawl) -> Item:
    """Return the attributes of the crawl's row that a driver changes; None means no attribute."""
    item = CRAWLS.encode(crawl)
    return {name: item.get(name) for name in _DRIVEN}


def counters(of: Crawl | CounterDelta) -> dict[str, int]:
    """Return the attributes of the crawl's row that count its pages."""
    return {"discovered": of.discovered, "crawled": of.crawled, "failed": of.failed}


def page_item(crawl: Crawl, page: FrontierPage) -> Item:
    """Build the item of one page."""
    pk = keys.partition(crawl.ref)
    return {"pk": pk, **PAGES.encode(page), "purge_at": purge_at(crawl)}


def link_items(crawl: Crawl, page: FrontierPage, links: Sequence[LinkCandidate]) -> list[Item]:
    """Build the chunks of a page's links under its fence.

    Chunks are compressed, since URLs of one site are alike.
    """
    return [
        {
            **keys.links_key(crawl.ref, page.key, page.fence, number),
            "links": zlib.compress(f"[{','.join(chunk)}]".encode()),
            "purge_at": purge_at(crawl),
        }
        for number, chunk in enumerate(_chunks(links))
    ]


def links_of_items(found: Sequence[Mapping[str, Any]]) -> tuple[LinkCandidate, ...]:
    """Parse links; the inverse of `link_items`, for items in any order."""
    ordered = sorted(found, key=lambda item: str(item["sk"]))
    return tuple(
        LinkCandidate(*fields)
        for item in ordered
        for fields in json.loads(zlib.decompress(bytes(item["links"])))
    )


def _chunks(links: Sequence[LinkCandidate]) -> Iterator[list[str]]:
    """Yield the links as JSON texts, grouped so that no group exceeds the size of a chunk."""
    chunk: list[str] = []
    size = 0
    for link in links:
        fields = (link.key, link.url, link.host, link.score, link.calendar)
        text = json.dumps(fields, separators=(",", ":"))
        if chunk and size + len(text) > limits.FRONTIER_CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += len(text) + 1
    if chunk:
        yield chunk


def _ref(item: Item) -> Item:
    return {"ref": {"tenant": tenant_of(item), "crawl_id": item["pk"].split("#", 3)[3]}}


def _plan(plan: Plan) -> str:
    return json.dumps(asdict(plan), separators=(",", ":"), allow_nan=False)


_DRIVEN: Final = ("fence", "batch", "current_depth", "ended_at", "end_reason", "purge_at")

CRAWLS: Final = Codec(
    Crawl,
    key=lambda crawl: keys.crawl_key(crawl.ref),
    keyed=("ref",),
    from_key=_ref,
    columns={"plan": Column(encode=_plan, decode=json.loads)},
    derived=lambda crawl: {"purge_at": purge_at(crawl)},
)

PAGES: Final = Codec(
    FrontierPage,
    key=lambda page: {"sk": f"{keys.PAGE_PREFIX}{page.key}"},
    keyed=("key",),
    from_key=lambda item: {"key": item["sk"].removeprefix(keys.PAGE_PREFIX)},
    columns={"skipped": SPARSE},
    derived=lambda page: {"place": keys.place_of(page)},
)

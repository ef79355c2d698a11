"""Convert the frontier's values to DynamoDB items and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from spinneret.kernel import bounds
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier import keys
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    EndReason,
    LinkCandidate,
    Page,
    PageState,
    Plan,
    Strategy,
)
from spinneret.web.exploring.scope import ScopeKind

Item = dict[str, Any]


def purge_at(crawl: Crawl) -> int:
    """Return the TTL of a crawl's rows: 30 days after its end at the latest.

    After the end only the crawl's own row has the exact moment. Without it no other row is shown.
    """
    end = crawl.ended_at or crawl.begun_at + timedelta(seconds=bounds.FRONTIER_SECONDS)
    return epoch_seconds(end + timedelta(seconds=bounds.JOB_RETENTION_SECONDS))


def crawl_item(crawl: Crawl) -> Item:
    """Build the item of the crawl's own row."""
    return {
        **keys.crawl_key(crawl.ref),
        "plan": json.dumps(asdict(crawl.plan), separators=(",", ":"), allow_nan=False),
        "roots": list(crawl.roots),
        "begun_at": to_iso(crawl.begun_at),
        "discovered": crawl.discovered,
        "crawled": crawl.crawled,
        "failed": crawl.failed,
        **{name: value for name, value in crawl_state(crawl).items() if value is not None},
    }


def crawl_state(crawl: Crawl) -> Item:
    """Return the attributes of the crawl's row that a driver changes; None means no attribute."""
    return {
        "fence": crawl.fence,
        "batch": crawl.batch,
        "current_depth": crawl.current_depth,
        "ended_at": optional_stamp(crawl.ended_at),
        "end_reason": crawl.end_reason,
        "purge_at": purge_at(crawl),
    }


def crawl_from_item(ref: CrawlRef, item: Mapping[str, Any]) -> Crawl:
    """Parse a crawl; the inverse of `crawl_item`."""
    reason = item.get("end_reason")
    return Crawl(
        ref=ref,
        plan=_plan(json.loads(item["plan"])),
        roots=tuple(item["roots"]),
        begun_at=parse_stamp(item["begun_at"]),
        fence=int(item["fence"]),
        batch=int(item["batch"]),
        current_depth=int(item["current_depth"]),
        discovered=int(item["discovered"]),
        crawled=int(item["crawled"]),
        failed=int(item["failed"]),
        ended_at=parse_optional_stamp(item.get("ended_at")),
        end_reason=None if reason is None else EndReason(reason),
    )


def _plan(given: dict[str, Any]) -> Plan:
    lists = {name: tuple(given[name]) for name in ("keywords", "include", "exclude")}
    enums = {"strategy": Strategy(given["strategy"]), "scope": ScopeKind(given["scope"])}
    return Plan(**{**given, **lists, **enums})


def page_item(crawl: Crawl, page: Page) -> Item:
    """Build the item of one page."""
    item = {
        **keys.page_key(crawl.ref, page.key),
        "place": keys.place_of(page),
        "url": page.url,
        "host": page.host,
        "depth": page.depth,
        "state": page.state,
        "rank": page.rank,
        "discovered_at": to_iso(page.discovered_at),
        "score": None if page.score is None else Decimal(repr(page.score)),
        "parent": page.parent,
        "batch": page.batch,
        "position": page.position,
        "fence": page.fence,
        "attempts": page.attempts,
        "due_at": optional_stamp(page.due_at),
        "owner": page.owner,
        "leased_until": optional_stamp(page.leased_until),
        "same_as": page.same_as,
        "link_chunks": page.link_chunks,
        "links_fence": page.links_fence,
        "content_hash": page.content_hash,
        "final_url": page.final_url,
        "status_code": page.status_code,
        "document_id": page.document_id,
        "parts_key": page.parts_key,
        "error_code": page.error_code,
        "error_message": page.error_message,
        "finished_at": optional_stamp(page.finished_at),
        "skipped": dict(page.skipped) or None,
        "purge_at": purge_at(crawl),
    }
    return {name: value for name, value in item.items() if value is not None}


def page_from_item(item: Mapping[str, Any]) -> Page:
    """Parse a page; the inverse of `page_item`."""
    score, status = item.get("score"), item.get("status_code")
    return Page(
        key=str(item["sk"]).removeprefix(keys.PAGE_PREFIX),
        url=item["url"],
        host=item["host"],
        depth=int(item["depth"]),
        state=PageState(item["state"]),
        rank=item["rank"],
        discovered_at=parse_stamp(item["discovered_at"]),
        score=None if score is None else float(score),
        parent=item.get("parent"),
        batch=int(item["batch"]),
        position=int(item["position"]),
        fence=int(item["fence"]),
        attempts=int(item["attempts"]),
        due_at=parse_optional_stamp(item.get("due_at")),
        owner=item.get("owner"),
        leased_until=parse_optional_stamp(item.get("leased_until")),
        same_as=item.get("same_as"),
        link_chunks=int(item["link_chunks"]),
        links_fence=int(item["links_fence"]),
        content_hash=item.get("content_hash"),
        final_url=item.get("final_url"),
        status_code=None if status is None else int(status),
        document_id=item.get("document_id"),
        parts_key=item.get("parts_key"),
        error_code=item.get("error_code"),
        error_message=item.get("error_message"),
        finished_at=parse_optional_stamp(item.get("finished_at")),
        skipped={reason: int(count) for reason, count in item.get("skipped", {}).items()},
    )


def link_items(crawl: Crawl, page: Page, links: Sequence[LinkCandidate]) -> list[Item]:
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

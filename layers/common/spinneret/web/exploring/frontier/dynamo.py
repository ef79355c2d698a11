"""The frontier on DynamoDB.

Frontier table, one partition for each crawl (at most some 25 MB and 25 pages at a time)
    pk `T#<tenant>#CRAWL#<id>`, sk `CRAWL`                   plan, fence, batch, counters
    …                           sk `URL#<key>`               one page; the key is a hash of its
                                                             identity, so a URL has one row
    …                           sk `LINKS#<key>#<fence>#<n>` a chunk of the links of a page as one
                                                             claim found them
    …                           sk `QUOTA#<hash>`            known URLs of one host or calendar
    …                           sk `SAME#<hash>`             the first page with a content

    local index `placed`: pk, `place`: every page by its state and its order in it,
        `W#<rank>`               waiting pages, the best first      query: begins with, limit
        `O#<batch>.<position>`   the batch under way                "
        `M#<batch>.<position>`   fetched, links not merged yet      "
        `C#…` `F#…` `D#…`        crawled, failed, duplicate pages: lists by cursor

The index is local because it must be read consistently. A global index lags behind: a missing page
would end a crawl too early or take its pages out of order. A local index limits a partition to 10
GB, four hundred times the largest crawl.

Every change is one transaction. Its conditions are state, fence and depth of the pages it moves
and, when a driver writes, fence and batch of the crawl; once no page is open, also its counters. A
change of one row is a conditional put; if its response is lost, the stored item shows that it
succeeded. Counters change with `ADD` in the same transaction as the rows that they count.

`purge_at` (epoch seconds) is DynamoDB's TTL attribute: it only removes garbage; no condition uses
it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spinneret.aws import dynamo, reads
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.web.exploring.frontier import items, keys
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    FrontierPage,
    LinkCandidate,
    MergeInput,
    PagePage,
    PageState,
)
from spinneret.web.exploring.frontier.ports import WriteConflict

INDEX: Final = "placed"


class DynamoFrontierStore(DynamoAdapter):
    """Implements FrontierStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._crawls = Table(client, table, items.CRAWLS)

    # ------------------------------------------------------------ Reads

    def crawl(self, ref: CrawlRef) -> Crawl | None:
        return self._crawls.get(keys.crawl_key(ref))

    def find(self, ref: CrawlRef, keys_: Iterable[str]) -> dict[str, FrontierPage]:
        """See FrontierStore: one BatchGetItem per hundred keys."""
        found = self._get_all(keys.page_key(ref, key) for key in dict.fromkeys(keys_))
        pages = [items.PAGES.decode(item) for item in found]
        return {page.key: page for page in pages}

    def first(self, ref: CrawlRef, state: PageState, limit: int) -> tuple[FrontierPage, ...]:
        """See FrontierStore: one query of the index."""
        return self.pages(ref, state, None, limit).pages

    def merge_input(
        self, ref: CrawlRef, pages: Iterable[FrontierPage], hashes: Iterable[str]
    ) -> MergeInput:
        """See FrontierStore: one BatchGetItem per hundred chunks and hashes."""
        chunks = {
            page.key: [
                keys.links_key(ref, page.key, page.links_fence, n) for n in range(page.link_chunks)
            ]
            for page in pages
        }
        contents = {each: keys.content_key(ref, each) for each in hashes}
        wanted = [*(each for of_page in chunks.values() for each in of_page), *contents.values()]
        found = {item["sk"]: item for item in self._get_all(wanted)}
        return MergeInput(
            links={
                key: items.links_of_items([found[each["sk"]] for each in of_page])
                for key, of_page in chunks.items()
            },
            originals={
                each: str(found[key["sk"]]["page"])
                for each, key in contents.items()
                if key["sk"] in found
            },
        )

    def used(self, ref: CrawlRef, quotas: Iterable[str]) -> Mapping[str, int]:
        by_key = {keys.quota_key(ref, quota)["sk"]: quota for quota in quotas}
        found = self._get_all({"pk": keys.partition(ref), "sk": sk} for sk in by_key)
        return {by_key[item["sk"]]: int(item["used"]) for item in found}

    def pages(
        self, ref: CrawlRef, state: PageState | None, after: str | None, limit: int
    ) -> PagePage:
        """See FrontierStore: queries the index by state, or all pages by key; 1 MB per query."""
        sort, prefix = "sk", keys.PAGE_PREFIX
        if state is not None:
            sort, prefix = "place", keys.state_prefix(state)
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "#pk = :pk AND begins_with(#sort, :prefix)",
            "ExpressionAttributeNames": {"#pk": "pk", "#sort": sort},
            "ExpressionAttributeValues": {":pk": keys.partition(ref), ":prefix": prefix},
            "ConsistentRead": True,
        }
        if state is not None:
            request["IndexName"] = INDEX
        if after is not None:
            request["ExclusiveStartKey"] = _start(ref, state, after)
        found = list(reads.items(self._client.query, request, limit + 1))
        shown = tuple(items.PAGES.decode(item) for item in found[:limit])
        place = None if state is None or not shown else keys.place_of(shown[-1])
        more = len(found) > limit
        after = keys.position_of(shown[-1].key, place) if more and shown else None
        return PagePage(pages=shown, after=after)

    def _get_all(self, wanted: Iterable[dict[str, str]]) -> list[dict[str, Any]]:
        return dynamo.batch_get(self._client, self._table, list(wanted))

    # ------------------------------------------------------------ Writes

    def begin(self, crawl: Crawl) -> None:
        self._write([self._crawls.put_write(crawl, dynamo.ABSENT)])

    def keep_links(self, crawl: Crawl, page: FrontierPage, links: Sequence[LinkCandidate]) -> int:
        """See FrontierStore: one put per chunk."""
        chunks = items.link_items(crawl, page, links)
        for item in chunks:
            dynamo.put_item(self._client, self._table, item)
        return len(chunks)

    def commit(self, crawl: Crawl, change: FrontierTransaction) -> None:
        writes = [
            *self._of_crawl(crawl, change),
            *(self._put_page(crawl, page, dynamo.ABSENT) for page in change.new),
            *(self._put_page(crawl, move.after, _stands(move.before)) for move in change.moves),
            *(self._check_page(crawl, page) for page in change.standing),
            *self._of_quotas(crawl, change.used),
            *self._of_contents(crawl, change.contents),
        ]
        if writes:
            self._write(writes)

    def _of_crawl(
        self, crawl: Crawl, change: FrontierTransaction
    ) -> list[TransactWriteItemTypeDef]:
        """Build the update of the crawl's own row, or the check that it is unchanged."""
        before, after = change.before, change.after
        standing = dynamo.PRESENT
        if before is not None:
            counters = items.counters(before) if change.counted else {}
            standing = dynamo.equals(fence=before.fence, batch=before.batch, **counters)
        key = keys.crawl_key(crawl.ref)
        old = items.crawl_state(before) if before is not None else {}
        new = items.crawl_state(after) if after is not None else {}
        changed = {name: value for name, value in new.items() if value != old.get(name)}
        if changed or change.plus != CounterDelta():
            return [dynamo.change(self._table, key, _update(changed, change.plus), standing)]
        return [] if before is None else [dynamo.check(self._table, key, standing)]

    def _put_page(
        self, crawl: Crawl, page: FrontierPage, condition: dynamo.Condition
    ) -> TransactWriteItemTypeDef:
        return dynamo.put(self._table, items.page_item(crawl, page), condition)

    def _check_page(self, crawl: Crawl, page: FrontierPage) -> TransactWriteItemTypeDef:
        return dynamo.check(self._table, keys.page_key(crawl.ref, page.key), _stands(page))

    def _of_quotas(
        self, crawl: Crawl, used: Mapping[str, tuple[int, int]]
    ) -> list[TransactWriteItemTypeDef]:
        purge_at = items.purge_at(crawl)
        return [
            dynamo.update(
                self._table,
                keys.quota_key(crawl.ref, quota),
                {"used": after, "purge_at": purge_at},
                dynamo.equals(used=before or None),
            )
            for quota, (before, after) in used.items()
        ]

    def _of_contents(
        self, crawl: Crawl, contents: Mapping[str, str]
    ) -> list[TransactWriteItemTypeDef]:
        purge_at = items.purge_at(crawl)
        return [
            dynamo.put(
                self._table,
                {**keys.content_key(crawl.ref, each), "page": page, "purge_at": purge_at},
                dynamo.ABSENT,
            )
            for each, page in contents.items()
        ]

    def _write(self, writes: list[TransactWriteItemTypeDef]) -> None:
        if len(writes) == 1 and "Put" in writes[0]:
            self._put(writes[0]["Put"])
            return
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise WriteConflict from failed

    def _put(self, put: Any) -> None:
        """Put one item at half the price of a transaction; accept a repetition of the same put."""
        answer = dynamo.write_or_standing(self._client.put_item, **put)
        if isinstance(answer, dynamo.Standing) and answer.item != put["Item"]:
            raise WriteConflict


def _stands(page: FrontierPage) -> dynamo.Condition:
    return dynamo.equals(state=page.state, fence=page.fence, depth=page.depth)


def _update(changed: Mapping[str, Any], plus: CounterDelta) -> dynamo.Condition:
    sets = [f"#{name} = :to_{name}" for name, value in changed.items() if value is not None]
    values: dict[str, Any] = {
        f":to_{n}": value for n, value in changed.items() if value is not None
    }
    added = items.counters(plus)
    adds = [f"#{name} :plus_{name}" for name, number in added.items() if number]
    values |= {f":plus_{name}": number for name, number in added.items() if number}
    removed = [f"#{name}" for name, value in changed.items() if value is None]
    parts = [("SET", sets), ("ADD", adds), ("REMOVE", removed)]
    return " ".join(f"{verb} {', '.join(terms)}" for verb, terms in parts if terms), values


def _start(ref: CrawlRef, state: PageState | None, after: str) -> dict[str, str]:
    key, place = keys.parts_of(after)
    start = keys.page_key(ref, key)
    return start if state is None else {**start, "place": place}

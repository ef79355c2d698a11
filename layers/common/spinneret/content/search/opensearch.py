"""Chunk index on OpenSearch 2.19; `opensearch_mapping` defines its names and fields."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException, TransportError

from spinneret.content.documents.models import Document, IndexedChunk, chunk_id, labels_of
from spinneret.content.documents.ports import Embedder, IndexRecord
from spinneret.content.search import limits
from spinneret.content.search import opensearch_queries as queries
from spinneret.content.search.models import FoundChunk, IndexQuery, Leg, LegCandidate, ParsedQuery
from spinneret.content.search.opensearch_bulk import batches
from spinneret.content.search.opensearch_mapping import (
    COPIES,
    PREFIX,
    IndexShape,
    Names,
    all_models,
    definition,
    names_of,
    source_of,
    version_id,
)
from spinneret.content.search.ports import IndexMissing
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, Remaining, to_iso
from spinneret.kernel.errors import ContentRefused, DependencyUnavailable

logger = logging.getLogger(__name__)

_TRIES: Final = 3  # tries per bulk item while the index is too busy
_BUSY: Final = frozenset({429, 502, 503, 504})
_SHAPE: Final = IndexShape(shards=1, replicas="0-1")


class OpenSearchChunkIndex:
    """Implements ChunkIndex and ChunkWriter; the first write creates the index.

    With a record, a write after the loss of all indexes creates one that isn't searched until a
    rebuild has completed it.
    """

    def __init__(
        self,
        client: OpenSearch,
        embedder: Embedder,
        clock: Clock,
        shape: IndexShape = _SHAPE,
        prefix: str = PREFIX,
        record: IndexRecord | None = None,
    ) -> None:
        self._client = client
        self._embedder = embedder
        self._clock = clock
        self._shape = shape
        self._prefix = prefix
        self._record = record
        self.all = all_models(prefix)

    # ---------------------------------------------------------------- Writing

    def targets(self, remaining: Remaining) -> frozenset[str]:
        """See ChunkWriter; creates the first index if there is none."""
        names = self.names(remaining)
        found = self.behind(names.write, remaining)
        if not found:
            lost = (
                self._record is not None
                and not self.behind(self.all.read, remaining)
                and self._record.exists()
            )
            aliases = (names.write,) if lost else (names.read, names.write)
            self.create(names.index(1), aliases, remaining)
            found = self.behind(names.write, remaining)
            if not found:
                raise DependencyUnavailable("opensearch", "the index was not created")
            if self._record is not None and not lost:
                self._record.changed()
        return found

    def write(
        self,
        chunks: Sequence[IndexedChunk],
        remaining: Remaining,
        into: frozenset[str] | None = None,
    ) -> frozenset[str]:
        """See ChunkWriter. `refresh=wait_for` makes the chunks searchable on return."""
        targets = self.targets(remaining) if into is None else into
        self.put(chunks, targets, remaining)
        return targets

    def put(
        self,
        chunks: Sequence[IndexedChunk],
        targets: frozenset[str],
        remaining: Remaining,
        *,
        refresh: str = "wait_for",
    ) -> None:
        """Write all chunks into these indexes, or raise as `write`; `refresh` as OpenSearch has
        it."""
        now = to_iso(self._clock())
        self._bulk(
            (
                (
                    {"index": {"_index": name, "_id": chunk.id}},
                    source_of(chunk, now),
                )
                for chunk in chunks
                for name in sorted(targets)
            ),
            remaining,
            refresh=refresh,
        )

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """See ChunkWriter. The ids of a version's chunks derive from their number.

        A former model's index may have other chunk numbers; no search reads their labels.
        """
        labels = labels_of(document)
        change = {
            "title": labels.title,
            "collection_id": labels.collection_id,
            "tag_ids": list(labels.tag_ids),
            "deleted": labels.deleted,
        }
        names = self.behind(self.all.write, remaining)
        self._bulk(
            (
                (
                    {
                        "update": {
                            "_index": name,
                            "_id": chunk_id(document.id, document.version, number),
                        }
                    },
                    {"doc": change},
                )
                for number in range(document.chunk_count)
                for name in sorted(names)
            ),
            remaining,
            may_lack=True,
        )

    def remove_others(
        self, document: Document, remaining: Remaining, *, also_current: bool = False
    ) -> None:
        terms = {"tenant": document.tenant, "document_id": document.id}
        query: dict[str, Any] = {
            "filter": [
                *({"term": {name: value}} for name, value in terms.items()),
                {"range": {"sequence": {"lte": document.sequence}}},
            ]
        }
        if not also_current:
            current = version_id(document.id, document.version)
            query["must_not"] = [{"term": {"version_id": current}}]
        self.ask(
            lambda limit: self._client.delete_by_query(
                index=self.all.write,
                body={"query": {"bool": query}},
                params={"conflicts": "proceed", "ignore_unavailable": "true", **limit},
            ),
            remaining,
        )

    # ---------------------------------------------------------------- Searching

    def search(
        self, wanted: IndexQuery, window: int, remaining: Remaining
    ) -> Mapping[Leg, Sequence[LegCandidate]]:
        """See ChunkIndex; sends all legs in one `_msearch`.

        The keyword leg alone doesn't depend on the model. It searches every index, since only the
        embedder could name the model's index.
        """
        every = wanted.vector is None
        bodies = queries.leg_bodies(wanted, window * COPIES if every else window)
        where = self.all.read if every else self.names(remaining).read
        # Copies of a shard merge at different times, which changes their scores slightly.
        copies = {"preference": fingerprint([wanted.tenant, wanted.words.text])}
        answers = self._msearch(where, list(bodies.values()), remaining, copies)
        return {
            leg: _distinct(map(queries.candidate, answer["hits"]["hits"]))[:window]
            for leg, answer in zip(bodies, answers, strict=True)
        }

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: ParsedQuery | None, remaining: Remaining
    ) -> Mapping[str, FoundChunk]:
        bodies = [
            queries.fetch_body(tenant, chunk_ids[start : start + limits.CHUNKS_PER_FETCH], words)
            for start in range(0, len(chunk_ids), limits.CHUNKS_PER_FETCH)
        ]
        found = [
            queries.found_chunk(hit)
            for answer in self._msearch(self.all.read, bodies, remaining)
            for hit in answer["hits"]["hits"]
        ]
        return {each.id: each for each in found}

    def totals(self, tenant: str, remaining: Remaining) -> tuple[int, int]:
        try:
            [answer] = self._msearch(self.all.read, [queries.totals_body(tenant)], remaining)
        except IndexMissing:
            return 0, 0
        return answer["aggregations"]["documents"]["value"], answer["hits"]["total"]["value"]

    def _msearch(
        self,
        index: str,
        bodies: Sequence[queries.Body],
        remaining: Remaining,
        options: Mapping[str, str] | None = None,
    ) -> list[Any]:
        if not bodies:
            return []
        header = {
            **(options or {}),
            "index": index,
            # Errors instead of fewer hits: for a missing index, a missing shard, and a time-out.
            "allow_no_indices": False,
            "allow_partial_search_results": False,
        }
        lines = [line for body in bodies for line in (header, body)]
        answer = self.ask(lambda limit: self._client.msearch(body=lines, params=limit), remaining)
        for response in answer["responses"]:
            if "error" in response:
                kind = _kind(response["error"])
                if kind == "index_not_found_exception":
                    raise IndexMissing
                logger.warning("search_failed", extra={"error": kind})
                raise DependencyUnavailable("opensearch", "a search failed")
        return list(answer["responses"])

    # ---------------------------------------------------------------- Shared with upkeep

    def create(self, name: str, aliases: tuple[str, ...], remaining: Remaining) -> None:
        """Create an index; ignores 400, which means that another writer created it first."""
        dimension = self._embedder.info(remaining).dimension
        self.ask(
            lambda limit: self._client.indices.create(
                index=name,
                body=definition(dimension, self._shape, aliases),
                params={"ignore": 400, **limit},
            ),
            remaining,
        )

    def ask(
        self,
        call: Callable[[Mapping[str, Any]], Any],
        remaining: Remaining,
        most: float = bounds.SEARCH_SECONDS,
    ) -> Any:
        """See `ask` of the module."""
        return ask(call, remaining, most)

    def names(self, remaining: Remaining) -> Names:
        """Return the names of the model's indexes."""
        return names_of(self._embedder.info(remaining), self._prefix)

    def behind(self, alias: str, remaining: Remaining) -> frozenset[str]:
        """Return the indexes of an alias or an alias pattern."""
        answer = self.ask(
            lambda limit: self._client.indices.get_alias(
                name=alias, params={"ignore": 404, **limit}
            ),
            remaining,
        )
        # The body of a 404 response has other keys.
        return frozenset(name for name in answer if name.startswith(f"{self._prefix}-"))

    def _bulk(
        self,
        items: Iterable[tuple[Any, Any]],
        remaining: Remaining,
        *,
        may_lack: bool = False,
        refresh: str = "wait_for",
    ) -> None:
        for lines in batches(items):
            self._bulk_once(lines, remaining, may_lack=may_lack, refresh=refresh)

    def _bulk_once(
        self,
        items: Sequence[tuple[str, str]],
        remaining: Remaining,
        *,
        may_lack: bool,
        refresh: str,
    ) -> None:
        """Write all items; retry items that the index was too busy for."""
        left = list(items)
        for _ in range(_TRIES):
            body = "".join(part for item in left for part in item)
            answer = self.ask(
                lambda limit, body=body: self._client.bulk(  # type: ignore[misc]  # bound now
                    body=body, params={"refresh": refresh, **limit}
                ),
                remaining,
                limits.BULK_SECONDS,
            )
            if not answer["errors"]:
                return
            outcomes = [next(iter(each.values())) for each in answer["items"]]
            failed = [
                (item, outcome)
                for item, outcome in zip(left, outcomes, strict=True)
                if "error" in outcome and not (may_lack and outcome["status"] == 404)
            ]
            refused = [outcome for _, outcome in failed if outcome["status"] not in _BUSY]
            if refused:
                logger.error(
                    "chunks_refused",
                    extra={"count": len(refused), "error": _kind(refused[0]["error"])},
                )
                raise ContentRefused(
                    f"the index refused {len(refused)} chunks", details={"reason": "index"}
                )
            left = [item for item, _ in failed]
            if not left:
                return
        raise DependencyUnavailable("opensearch", f"{len(left)} chunks were not indexed")


def ask(
    call: Callable[[Mapping[str, Any]], Any],
    remaining: Remaining,
    most: float = bounds.SEARCH_SECONDS,
) -> Any:
    """Return the response to a call, which receives its time-out of at most `most` seconds;
    raise DependencyUnavailable."""
    seconds = min(remaining(), most)
    if seconds <= 0:
        raise DependencyUnavailable("opensearch", "deadline exceeded")
    try:
        return call({"request_timeout": seconds})
    except NotFoundError:
        raise DependencyUnavailable("opensearch", "the index is missing") from None
    except TransportError as error:
        if isinstance(error.status_code, int) and error.status_code in (400, 401, 403):
            raise
        raise DependencyUnavailable("opensearch") from error
    except OpenSearchException as error:
        raise DependencyUnavailable("opensearch") from error


def _distinct(candidates: Iterable[LegCandidate]) -> list[LegCandidate]:
    """Remove duplicates, keeping the best rank of each chunk."""
    found: dict[str, LegCandidate] = {}
    for each in candidates:
        found.setdefault(each.chunk_id, each)
    return list(found.values())


def _kind(error: Any) -> Any:
    """Return an error's type; its reason may contain a tenant's text."""
    return error.get("type") if isinstance(error, dict) else None

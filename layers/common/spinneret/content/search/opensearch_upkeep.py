"""Rebuild and cleanup of the chunk index on OpenSearch 2.19."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from opensearchpy import OpenSearch

from spinneret.content import limits
from spinneret.content.documents.models import (
    Document,
    IndexedChunk,
    IndexedMetadata,
    chunk_id,
    labels_of,
)
from spinneret.content.search import limits as limits_of_search
from spinneret.content.search.models import IndexCoverage, IndexedVersion, VersionPage
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import Names, version_id
from spinneret.content.search.ports import IndexMissing
from spinneret.kernel.clock import Remaining, parse_stamp
from spinneret.kernel.errors import DependencyUnavailable


class OpenSearchUpkeep:
    """Implements IndexUpkeep on the same indexes that functions read and write."""

    def __init__(self, client: OpenSearch, index: OpenSearchChunkIndex) -> None:
        self._client = client
        self._index = index

    def begin(self, remaining: Remaining) -> str:
        """See IndexUpkeep. An index that is written but not read is under construction."""
        names = self._index.names(remaining)
        written = self._index.behind(names.write, remaining)
        unread = written - self._index.behind(names.read, remaining)
        if unread:
            return max(unread)
        target = names.index(max(map(names.number_of, written), default=0) + 1)
        self._index.create(target, (names.write,), remaining)
        return target

    def write(self, chunks: Sequence[IndexedChunk], target: str, remaining: Remaining) -> None:
        """See IndexUpkeep; OpenSearch shows the chunks at its next refresh."""
        self._index.put(chunks, frozenset({target}), remaining, refresh="false")

    def held(
        self, target: str, documents: Sequence[Document], remaining: Remaining
    ) -> Mapping[str, IndexCoverage]:
        """See IndexUpkeep; sends one aggregation."""
        ids = {version_id(each.id, each.version): each for each in documents}
        labels = {
            name: {"terms": {"field": name, "size": limits.DOCUMENT_TAGS_MAX + 1}}
            for name in ("collection_id", "tag_ids", "deleted")
        }
        versions = {"field": "version_id", "size": max(1, len(ids))}
        body = {
            "size": 0,
            "query": {"bool": {"filter": [{"terms": {"version_id": list(ids)}}]}},
            "aggs": {"versions": {"terms": versions, "aggs": labels}},
        }
        answer = self._search(target, body, remaining)
        found = {each.id: IndexCoverage() for each in documents}
        for bucket in answer["aggregations"]["versions"]["buckets"]:
            document = ids[bucket["key"]]
            found[document.id] = IndexCoverage(
                chunks=bucket["doc_count"], labelled=_bears(bucket, labels_of(document))
            )
        return found

    def trim(self, document: Document, target: str, remaining: Remaining) -> None:
        version = version_id(document.id, document.version)
        own = [
            chunk_id(document.id, document.version, number)
            for number in range(document.chunk_count)
        ]
        query = {
            "filter": [{"term": {"version_id": version}}],
            "must_not": [{"ids": {"values": own}}],
        }
        self._index.ask(
            lambda limit: self._client.delete_by_query(
                index=target,
                body={"query": {"bool": query}},
                params={"conflicts": "proceed", **limit},
            ),
            remaining,
        )

    def finish(self, target: str, remaining: Remaining) -> None:
        """See IndexUpkeep; changes the model's aliases in one request, then deletes all former
        indexes."""
        self._index.ask(
            lambda limit: self._client.indices.refresh(index=target, params=limit),
            remaining,
            limits_of_search.REFRESH_SECONDS,
        )
        names = self._index.names(remaining)
        former = self._own(names, remaining) - {target}
        actions: list[dict[str, Any]] = [{"add": {"index": target, "alias": names.read}}]
        actions += [
            {"remove": {"index": each, "alias": alias, "must_exist": False}}
            for each in sorted(former)
            for alias in (names.read, names.write)
        ]
        self._index.ask(
            lambda limit: self._client.indices.update_aliases(
                body={"actions": actions}, params=limit
            ),
            remaining,
        )
        self._delete(former, remaining)
        self.retire(remaining)

    def retire(self, remaining: Remaining) -> None:
        every = self._index.all
        found = self._index.behind(every.read, remaining) | self._index.behind(
            every.write, remaining
        )
        names = self._index.names(remaining)
        self._delete(found - self._own(names, remaining), remaining)

    def _own(self, names: Names, remaining: Remaining) -> frozenset[str]:
        """Return the indexes of the model."""
        read = self._index.behind(names.read, remaining)
        return read | self._index.behind(names.write, remaining)

    def _delete(self, indexes: frozenset[str], remaining: Remaining) -> None:
        for each in sorted(indexes):
            self._index.ask(
                lambda limit, name=each: self._client.indices.delete(  # type: ignore[misc]  # mypy: defaults of a lambda
                    index=name, params={"ignore_unavailable": "true", **limit}
                ),
                remaining,
            )

    def reading(self, remaining: Remaining) -> str:
        names = self._index.names(remaining)
        self._index.targets(remaining)
        found = self._index.behind(names.read, remaining)
        if not found:
            raise IndexMissing
        if len(found) != 1:
            raise DependencyUnavailable("opensearch", f"{len(found)} indexes are read")
        return next(iter(found))

    def versions(self, after: Mapping[str, str] | None, remaining: Remaining) -> VersionPage:
        """See IndexUpkeep; sends a composite aggregation."""
        sources = [
            {name: {"terms": {"field": name}}} for name in ("tenant", "document_id", "version_id")
        ]
        composite: dict[str, Any] = {"size": limits.UPKEEP_PAGE, "sources": sources}
        if after is not None:
            composite["after"] = dict(after)
        newest = {"newest": {"max": {"field": "written_at", "format": _FORMAT}}}
        body = {"size": 0, "aggs": {"all": {"composite": composite, "aggs": newest}}}
        found = self._search(self.reading(remaining), body, remaining)["aggregations"]["all"]
        return VersionPage(
            versions=tuple(
                IndexedVersion(
                    tenant=bucket["key"]["tenant"],
                    document_id=bucket["key"]["document_id"],
                    version=bucket["key"]["version_id"].partition(":")[2],
                    written_at=_moment(bucket["newest"]["value_as_string"]),
                )
                for bucket in found["buckets"]
            ),
            after=found.get("after_key"),
        )

    def remove(self, versions: Sequence[IndexedVersion], remaining: Remaining) -> None:
        ids = [version_id(each.document_id, each.version) for each in versions]
        self._index.ask(
            lambda limit: self._client.delete_by_query(
                index=self._index.all.write,
                body={"query": {"bool": {"filter": [{"terms": {"version_id": ids}}]}}},
                params={"conflicts": "proceed", "ignore_unavailable": "true", **limit},
            ),
            remaining,
        )

    def totals(self, remaining: Remaining) -> tuple[int, int]:
        """See IndexUpkeep; sends one aggregation."""
        body = {
            "size": 0,
            "track_total_hits": True,
            "aggs": {"documents": {"cardinality": {"field": "document_id"}}},
        }
        answer = self._search(self._index.names(remaining).read, body, remaining)
        return answer["aggregations"]["documents"]["value"], answer["hits"]["total"]["value"]

    def _search(self, index: str, body: Mapping[str, Any], remaining: Remaining) -> Any:
        return self._index.ask(
            lambda limit: self._client.search(index=index, body=body, params=limit), remaining
        )


def _bears(bucket: Mapping[str, Any], labels: IndexedMetadata) -> bool:
    """Return whether all chunks of a version have exactly these labels."""
    wanted: dict[str, set[Any]] = {
        "collection_id": {labels.collection_id} - {None},
        "tag_ids": set(labels.tag_ids),
        "deleted": {int(labels.deleted)},
    }
    return all(
        {each["key"]: each["doc_count"] for each in bucket[name]["buckets"]}
        == dict.fromkeys(values, bucket["doc_count"])
        for name, values in wanted.items()
    )


_FORMAT = "strict_date_time"  # what `to_iso` writes, in milliseconds


def _moment(text: str) -> datetime:
    """Parse a time as formatted by the index, with three decimals instead of six."""
    return parse_stamp(text.removesuffix("Z").partition(".")[0] + ".000000Z")

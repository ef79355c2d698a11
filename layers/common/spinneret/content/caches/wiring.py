"""Adapters of the caches."""

from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.caches import limits
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.models import CacheName
from spinneret.content.caches.s3 import S3PageCache
from spinneret.content.caches.service import KEPT_SECONDS, CacheClearing, Caches, Kept
from spinneret.content.caches.use_counter import UseCounter
from spinneret.kernel.settings import number, text

CACHES_TABLE: Final = text("CACHES_TABLE")
EMBED_TTL_S: Final = number("CACHE__EMBED_TTL_S", limits.EMBEDDING_CACHE_SECONDS)
QUERY_TTL_S: Final = number("CACHE__QUERY_TTL_S", limits.QUERY_CACHE_SECONDS)
"""Retention of results and of the rankings behind cursors; at 0 a search has one page."""
QUERY_EMBED_TTL_S: Final = number("CACHE__QUERY_EMBED_TTL_S", limits.QUERY_EMBEDDING_CACHE_SECONDS)
CHUNK_CACHE: Final = (CACHES_TABLE, EMBED_TTL_S)
QUERY_CACHES: Final = (CACHES_TABLE, QUERY_TTL_S, QUERY_EMBED_TTL_S)


def chunk_caches(stage: Stage) -> Caches:
    """Create the caches for embedding chunks."""
    return _caches(stage, {**KEPT_SECONDS, CacheName.EMBEDDINGS: stage[EMBED_TTL_S]})


def query_caches(stage: Stage) -> Caches:
    """Create the caches for search."""
    return _caches(stage, query_kept(stage))


def query_kept(stage: Stage) -> Kept:
    """Return the retention of the caches for search in seconds."""
    return {
        **KEPT_SECONDS,
        CacheName.QUERY: stage[QUERY_TTL_S],
        CacheName.QUERY_EMBEDDINGS: stage[QUERY_EMBED_TTL_S],
    }


@reads(CACHES_TABLE, CONTENT_BUCKET)
def cache_clearing(stage: Stage) -> CacheClearing:
    """Create the cache clearing service of this stage."""
    pages = S3PageCache(stage.s3, stage[CONTENT_BUCKET])
    return CacheClearing(caches=_caches(stage, KEPT_SECONDS), pages=pages)


def use_counter(stage: Stage) -> UseCounter:
    """Create the counter of searches and uses; a process has one, by `Stage.once`."""
    return UseCounter(DynamoCacheStore(stage.dynamodb, stage[CACHES_TABLE]), stage.clock)


def _caches(stage: Stage, kept: Kept) -> Caches:
    store = DynamoCacheStore(stage.dynamodb, stage[CACHES_TABLE])
    return Caches(store=store, clock=stage.clock, kept=kept, counter=stage.once(use_counter))

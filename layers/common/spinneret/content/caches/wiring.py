"""Adapters of the caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.caches import limits
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.models import CacheName
from spinneret.content.caches.s3 import S3PageCache
from spinneret.content.caches.service import KEPT_SECONDS, CacheClearing, Caches, Kept
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """Settings of the cache store."""

    caches_table: str

    @property
    def kept(self) -> Kept:
        """Retention of each cache in seconds."""
        return KEPT_SECONDS


@dataclass(frozen=True, kw_only=True)
class ChunkCacheSettings(CacheSettings):
    """Cache settings for embedding chunks."""

    cache__embed_ttl_s: float = limits.EMBEDDING_CACHE_SECONDS

    @property
    def kept(self) -> Kept:
        """Retention of each cache in seconds, with this stage's setting."""
        return {**super().kept, CacheName.EMBEDDINGS: self.cache__embed_ttl_s}


@dataclass(frozen=True, kw_only=True)
class QueryCacheSettings(CacheSettings):
    """Cache settings for search."""

    cache__query_ttl_s: float = limits.QUERY_CACHE_SECONDS
    """Retention of results and of the rankings behind cursors; at 0 a search has one page."""
    cache__query_embed_ttl_s: float = limits.QUERY_EMBEDDING_CACHE_SECONDS

    @property
    def kept(self) -> Kept:
        """Retention of each cache in seconds, with this stage's settings."""
        return {
            **super().kept,
            CacheName.QUERY: self.cache__query_ttl_s,
            CacheName.QUERY_EMBEDDINGS: self.cache__query_embed_ttl_s,
        }


def caches(settings: CacheSettings) -> Caches:
    """Create the caches of this stage."""
    store = DynamoCacheStore(dynamodb_client(), settings.caches_table)
    return Caches(store, utc_now, settings.kept)


@dataclass(frozen=True, kw_only=True)
class CacheClearingSettings(CacheSettings):
    """Settings for clearing caches."""

    content_bucket: str


def cache_clearing(env: Mapping[str, str]) -> CacheClearing:
    """Create the cache clearing service of this stage."""
    settings = CacheClearingSettings.from_env(env)
    return CacheClearing(
        caches=caches(settings), pages=S3PageCache(s3_client(), settings.content_bucket)
    )

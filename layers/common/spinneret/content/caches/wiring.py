"""Chooses the adapters of caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.s3 import S3PageCache
from spinneret.content.caches.service import CacheClearing, Caches
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """Where caches are kept."""

    caches_table: str


def caches(settings: CacheSettings) -> Caches:
    """The caches of this stage."""
    return Caches(DynamoCacheStore(dynamodb_client(), settings.caches_table), utc_now)


@dataclass(frozen=True, kw_only=True)
class CacheClearingSettings(CacheSettings):
    """Where caches are cleared."""

    content_bucket: str


def cache_clearing(env: Mapping[str, str]) -> CacheClearing:
    """A tenant's caches of this stage."""
    settings = CacheClearingSettings.from_env(env)
    return CacheClearing(caches(settings), S3PageCache(s3_client(), settings.content_bucket))

"""Chooses the adapters of caches."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.service import Caches
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """Where caches are kept."""

    caches_table: str


def caches(settings: CacheSettings) -> Caches:
    """The caches of this stage."""
    return Caches(DynamoCacheStore(dynamodb_client(), settings.caches_table), utc_now)

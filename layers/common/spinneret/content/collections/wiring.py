"""Adapters of collections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.content.collections.dynamo import DynamoCollectionStore
from spinneret.content.collections.service import CollectionService
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CollectionSettings(Settings):
    """Settings of the collection store."""

    labels_table: str
    documents_table: str


def collection_service(env: Mapping[str, str]) -> CollectionService:
    """Create the collection service of this stage."""
    settings = CollectionSettings.from_env(env)
    return CollectionService(
        store=DynamoCollectionStore(
            dynamodb_client(), settings.labels_table, settings.documents_table
        ),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )

"""Adapters of tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.content.tags.dynamo import DynamoTagStore
from spinneret.content.tags.service import TagService
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class TagSettings(Settings):
    """Settings of the tag store."""

    labels_table: str


def tag_service(env: Mapping[str, str]) -> TagService:
    """Create the tag service of this stage."""
    settings = TagSettings.from_env(env)
    return TagService(
        store=DynamoTagStore(dynamodb_client(), settings.labels_table),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )

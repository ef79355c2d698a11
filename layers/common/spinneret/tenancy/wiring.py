"""Chooses the adapters of tenancy."""

from __future__ import annotations

import os
from dataclasses import dataclass

from spinneret.adapters.aws import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings
from spinneret.tenancy.dynamo import DynamoKeyStore
from spinneret.tenancy.dynamo_windows import DynamoRateWindows
from spinneret.tenancy.service import KeyService


@dataclass(frozen=True, kw_only=True)
class TenancySettings(Settings):
    """Where credentials are kept."""

    tenancy_table: str


def key_service(settings: TenancySettings) -> KeyService:
    """API keys of this stage."""
    client = dynamodb_client()
    return KeyService(
        keys=DynamoKeyStore(client, settings.tenancy_table),
        windows=DynamoRateWindows(client, settings.tenancy_table),
        clock=utc_now,
        new_id=id_maker(utc_now),
        random=os.urandom,
    )

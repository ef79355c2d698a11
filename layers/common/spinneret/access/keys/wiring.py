"""Select the adapters of API keys."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spinneret.access import limits
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.service import KeyService
from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, kw_only=True)
class KeySettings(Settings):
    """Table of keys, tickets and rate windows."""

    tenancy_table: str


@dataclass(frozen=True, kw_only=True)
class IssuingSettings(KeySettings):
    """Additional settings of functions that issue keys."""

    rate_limit__api_rpm: int = limits.KEY_REQUESTS_PER_MINUTE


def key_service(settings: KeySettings) -> KeyService:
    """Build the key service of this stage for functions that issue no keys."""
    return keys_in(dynamodb_client(), settings.tenancy_table)


def issuing_key_service(settings: IssuingSettings) -> KeyService:
    """Build the key service of this stage."""
    return keys_in(dynamodb_client(), settings.tenancy_table, settings.rate_limit__api_rpm)


def keys_in(
    client: DynamoDBClient, table: str, default_rpm: int = limits.KEY_REQUESTS_PER_MINUTE
) -> KeyService:
    """Build the key service of a table."""
    return KeyService(
        keys=DynamoKeyStore(client, table),
        windows=DynamoRateLimitStore(client, table),
        clock=utc_now,
        new_id=id_maker(utc_now),
        random=os.urandom,
        default_rpm=default_rpm,
    )

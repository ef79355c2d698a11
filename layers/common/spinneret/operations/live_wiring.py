"""Services of the WebSocket API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.keys.wiring import KeySettings, key_service
from spinneret.aws.clients import dynamodb_client, stepfunctions_client
from spinneret.jobs.driven.stepfunctions import StepFunctionsTokens
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import live_service
from spinneret.kernel.clock import utc_now
from spinneret.marketplace.vinted.dynamo import DynamoPluginStore
from spinneret.marketplace.vinted.transport import PLUGIN_MARKETPLACES, PluginInbox


@dataclass(frozen=True, kw_only=True)
class LiveApiSettings(JobSettings, KeySettings):
    """Environment variables of the WebSocket API."""

    marketplace_table: str


@dataclass(frozen=True, kw_only=True)
class LiveApi:
    """Services that the WebSocket API uses."""

    keys: KeyService
    live: LiveService


def live_api(env: Mapping[str, str]) -> LiveApi:
    """Build the services of the WebSocket API."""
    settings = LiveApiSettings.from_env(env)
    store = DynamoPluginStore(dynamodb_client(), settings.marketplace_table, settings.jobs_table)
    tokens = StepFunctionsTokens(stepfunctions_client())
    keys = key_service(settings)

    def may_act(tenant: str, key_id: str) -> bool:
        return keys.allows(tenant, key_id, Scope.WRITE)

    inbox = PluginInbox(
        store=store,
        tokens=tokens,
        marketplaces=frozenset(PLUGIN_MARKETPLACES),
        may_act=may_act,
        clock=utc_now,
    )
    return LiveApi(keys=keys, live=live_service(settings, inbox.actions))

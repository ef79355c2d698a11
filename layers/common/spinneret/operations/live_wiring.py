"""Services of the WebSocket API."""

from dataclasses import dataclass

from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.access.wiring import ADMITTING, key_service
from spinneret.aws.stage import Stage, reads
from spinneret.jobs.driven.stepfunctions import StepFunctionsTokens
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.wiring import IDEMPOTENCY_TABLE, JOBS_TABLE, WEBSOCKET_URL, live_service
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.inbox import PluginInbox
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.marketplace.registry import BY_PLUGIN


@dataclass(frozen=True, kw_only=True)
class LiveApi:
    """Services that the WebSocket API uses."""

    keys: KeyService
    live: LiveService


@reads(JOBS_TABLE, IDEMPOTENCY_TABLE, WEBSOCKET_URL, *ADMITTING, MARKETPLACE_TABLE)
def live_api(stage: Stage) -> LiveApi:
    """Build the services of the WebSocket API."""
    keys = key_service(stage)

    def may_act(tenant: str, key_id: str) -> bool:
        return keys.allows(tenant, key_id, Scope.WRITE, Permission.PUBLISH_PRODUCT)

    inbox = PluginInbox(
        store=DynamoPluginStore(stage.dynamodb, stage[MARKETPLACE_TABLE], stage[JOBS_TABLE]),
        tokens=StepFunctionsTokens(stage.step_functions),
        marketplaces=BY_PLUGIN,
        may_act=may_act,
        clock=stage.clock,
    )
    return LiveApi(keys=keys, live=live_service(stage, inbox.actions))

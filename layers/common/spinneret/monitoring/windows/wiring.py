"""Wire maintenance windows."""

from __future__ import annotations

from collections.abc import Mapping

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.monitoring.settings import TargetSettings
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import WindowService


def window_service(env: Mapping[str, str]) -> WindowService:
    """Build the window service of this stage."""
    settings = TargetSettings.from_env(env)
    return WindowService(
        store=DynamoWindowStore(dynamodb_client(), settings.targets_table),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )

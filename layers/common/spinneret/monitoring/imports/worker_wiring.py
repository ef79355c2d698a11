"""Wire the import worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.wiring import ending_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.monitoring import limits
from spinneret.monitoring.imports.pipeline import TargetImport
from spinneret.monitoring.kinds import TARGET_IMPORT
from spinneret.monitoring.settings import NewTargetSettings
from spinneret.monitoring.targets.api_models import target_json
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.service import TargetService
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.wiring import PoliteFetchSettings, polite_fetcher


@dataclass(frozen=True, kw_only=True)
class ImportWorkerSettings(NewTargetSettings, PoliteFetchSettings, RelaySettings):
    """Environment variables of the import worker."""

    check_interval: int = limits.CHECK_INTERVAL_SECONDS


def import_worker(env: Mapping[str, str]) -> Worker:
    """Build the worker of the import lane."""
    settings = ImportWorkerSettings.from_env(env)
    handler = TargetImport(
        targets=TargetService(
            store=DynamoTargetStore(dynamodb_client(), settings.targets_table),
            policy=address_policy(settings),
            clock=utc_now,
            new_id=id_maker(utc_now),
            render=target_json,
            most=settings.targets_per_tenant,
            shortest_interval=settings.check_interval,
        ),
        fetcher=polite_fetcher(settings),
        clock=utc_now,
        default_interval=settings.check_interval,
    )
    store = ending_store(settings, relay(settings).relay)
    return worker(settings, {TARGET_IMPORT: handler}, store)

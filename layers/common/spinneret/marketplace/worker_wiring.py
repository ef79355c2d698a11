"""Wire the adapters of the step that processes marketplace jobs."""

import random

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.wiring import IDEMPOTENCY_TABLE, JOBS_TABLE, driver, sockets
from spinneret.jobs.worker import Handler, Worker
from spinneret.marketplace.driving_wiring import PUBLISHING, publishing_store
from spinneret.marketplace.images import ImageSource
from spinneret.marketplace.imports.matching import ListingImport
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.publishing.contexts import StepContexts
from spinneret.marketplace.publishing.engine import PublishHandler
from spinneret.marketplace.publishing.job_step import JobStep, NullJobQueue
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.marketplace.publishing.work import StepServices
from spinneret.marketplace.publishing_wiring import (
    import_store,
    listing_store,
    order_book,
    preference_store,
    product_service,
    product_store,
    task_store,
)
from spinneret.marketplace.registry import ACTION_TYPES, PLATFORMS
from spinneret.marketplace.wiring import CALLING, api_clients
from spinneret.web.fetching.worker_wiring import guarded_fetcher


@reads(*PUBLISHING, *CALLING)
def publish_step(stage: Stage) -> JobStep:
    """Build the step that processes one job."""
    client, table = stage.dynamodb, stage[MARKETPLACE_TABLE]
    handler = PublishHandler(
        platforms=PLATFORMS,
        actions=ACTION_TYPES,
        products=product_store(stage),
        listings=listing_store(stage),
        tasks=task_store(stage),
        preferences=preference_store(stage),
        new_work=_contexts(stage),
        clock=stage.clock,
    )
    store = publishing_store(stage)

    def new_worker(handler: Handler) -> Worker:
        return Worker(
            store=store,
            queue=NullJobQueue(),
            kinds=all_kinds(),
            handlers={PUBLISH: handler},
            clock=stage.clock,
            random=random.random,
            new_owner=stage.new_token,
        )

    return JobStep(
        new_worker=new_worker,
        publish=handler,
        driver=driver(stage, store),
        store=store,
        slots=DynamoSemaphore(client, table),
        clock=stage.clock,
    )


def _contexts(stage: Stage) -> StepContexts:
    client, jobs_table = stage.dynamodb, stage[JOBS_TABLE]
    plugins = DynamoPluginStore(client, stage[MARKETPLACE_TABLE], jobs_table)
    effects = DynamoEffectStore(client, jobs_table, stage[IDEMPOTENCY_TABLE])
    services = StepServices(
        browser=PluginTransport(store=plugins, sockets=sockets(stage), clock=stage.clock),
        images=ImageSource(fetcher=guarded_fetcher(stage)),
        orders=order_book(stage),
        imports=ListingImport(
            products=product_store(stage),
            catalogue=product_service(stage),
            listings=listing_store(stage),
            rows=import_store(stage),
            clock=stage.clock,
        ),
    )
    return StepContexts(
        clients=api_clients(stage),
        listings=listing_store(stage),
        effects=SideEffects(store=effects, clock=stage.clock),
        services=services,
        clock=stage.clock,
    )

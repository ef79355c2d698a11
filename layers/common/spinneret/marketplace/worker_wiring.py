"""Wire the adapters of the step that processes marketplace jobs."""

import random
import time
from dataclasses import replace

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.wiring import IDEMPOTENCY_TABLE, JOBS_TABLE, driver, sockets
from spinneret.jobs.worker import Context, Handler, Worker
from spinneret.marketplace.calls.dynamo import DynamoSellerRateLimiter
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.driving_wiring import PUBLISHING, publishing_store
from spinneret.marketplace.images import ImageSource
from spinneret.marketplace.imports.matching import ListingImport
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.last_looks import AnswersOnly, final_look_deferral
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.publishing.engine import PublishHandler
from spinneret.marketplace.publishing.job_step import JobStep, NullJobQueue
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.marketplace.publishing.work import StepContext, StepServices
from spinneret.marketplace.publishing_wiring import (
    import_store,
    listing_store,
    order_book,
    preference_store,
    product_service,
    product_store,
    publishing_service,
    task_store,
)
from spinneret.marketplace.registry import ACTION_TYPES, PLATFORMS
from spinneret.marketplace.wiring import CALLING, signing, tokens, transport
from spinneret.web.fetching.worker_wiring import guarded_fetcher


@reads(*PUBLISHING, *CALLING)
def publish_step(stage: Stage) -> JobStep:
    """Build the step that processes one job."""
    client, table = stage.dynamodb, stage[MARKETPLACE_TABLE]
    listings = listing_store(stage)
    access, sender = tokens(stage), transport(stage)
    rate_limiter = DynamoSellerRateLimiter(client, table)
    effects = SideEffects(
        store=DynamoEffectStore(client, stage[JOBS_TABLE], stage[IDEMPOTENCY_TABLE]),
        clock=stage.clock,
    )
    plugins = DynamoPluginStore(client, table, stage[JOBS_TABLE])
    plugin_sockets = sockets(stage)
    services = StepServices(
        browser=PluginTransport(store=plugins, sockets=plugin_sockets, clock=stage.clock),
        images=ImageSource(fetcher=guarded_fetcher(stage)),
        orders=order_book(stage, publishing_service(stage)),
        imports=ListingImport(
            products=product_store(stage),
            catalogue=product_service(stage),
            listings=listings,
            rows=import_store(stage),
            clock=stage.clock,
        ),
    )

    def new_work(context: Context, subject: JobSubject) -> StepContext:
        is_over = final_look_deferral(context.job, stage.clock())
        calls = SellerApiClient(
            transport=sender,
            rate_limiter=rate_limiter,
            tokens=access,
            sign=signing(subject.marketplace),
            tenant=subject.tenant,
            marketplace=subject.marketplace,
            remaining=context.remaining,
            clock=stage.clock,
            sleep=time.sleep,
            begun=context.job.started_at,
            over=is_over,
        )
        own = services
        if is_over is not None:
            answers = AnswersOnly(
                store=plugins, sockets=plugin_sockets, clock=stage.clock, over=is_over
            )
            own = replace(services, browser=answers)
        return StepContext(
            context=context,
            subject=subject,
            calls=calls,
            listings=listings,
            effects=effects,
            services=own,
            clock=stage.clock,
            over=is_over,
        )

    handler = PublishHandler(
        platforms=PLATFORMS,
        actions=ACTION_TYPES,
        products=product_store(stage),
        listings=listings,
        tasks=task_store(stage),
        preferences=preference_store(stage),
        new_work=new_work,
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

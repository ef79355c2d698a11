"""Wire the adapters of the step that processes marketplace jobs."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.wiring import driver, sockets
from spinneret.jobs.worker import Context, Handler, Worker
from spinneret.kernel.clock import utc_now
from spinneret.marketplace.calls.dynamo import DynamoSellerRateLimiter
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.driving_wiring import publishing_store
from spinneret.marketplace.images import ImageSource
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.last_looks import AnswersOnly, final_look_deferral
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.products.dynamo import DynamoProductStore
from spinneret.marketplace.publishing.engine import PublishHandler
from spinneret.marketplace.publishing.models import Subject
from spinneret.marketplace.publishing.visits import JobStep, NullJobQueue
from spinneret.marketplace.publishing.work import StepContext, StepServices
from spinneret.marketplace.registry import ACTION_TYPES, PLATFORMS
from spinneret.marketplace.settings import MarketplaceSettings
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore
from spinneret.marketplace.vinted.dynamo import DynamoPluginStore
from spinneret.marketplace.vinted.transport import PluginTransport
from spinneret.marketplace.wiring import (
    door,
    fetcher,
    order_book,
    publishing_service,
    signing,
    tokens,
)


def publish_visits(env: Mapping[str, str]) -> JobStep:
    """Build the step that processes one job."""
    settings = MarketplaceSettings.from_env(env)
    client, table = dynamodb_client(), settings.marketplace_table
    listings = DynamoListingStore(client, table, settings.jobs_table)
    access, way, pace = tokens(settings), door(settings), DynamoSellerRateLimiter(client, table)
    effects = SideEffects(
        store=DynamoEffectStore(client, settings.jobs_table, settings.idempotency_table),
        clock=utc_now,
    )
    plugins = DynamoPluginStore(client, table, settings.jobs_table), sockets(settings), utc_now
    services = StepServices(
        browser=PluginTransport(store=plugins[0], sockets=plugins[1], clock=plugins[2]),
        images=ImageSource(fetcher(settings)),
        orders=order_book(settings, publishing_service(settings)),
    )

    def new_work(context: Context, subject: Subject) -> StepContext:
        is_over = final_look_deferral(context.job, utc_now())
        calls = SellerApiClient(
            door=way,
            pace=pace,
            access=access,
            sign=signing(subject.marketplace),
            tenant=subject.tenant,
            marketplace=subject.marketplace,
            remaining=context.remaining,
            clock=utc_now,
            sleep=time.sleep,
            begun=context.job.started_at,
            over=is_over,
        )
        own = services
        if is_over is not None:
            own = replace(services, browser=AnswersOnly(*plugins, is_over))
        return StepContext(
            context=context,
            subject=subject,
            calls=calls,
            listings=listings,
            effects=effects,
            services=own,
            clock=utc_now,
            over=is_over,
        )

    handler = PublishHandler(
        platforms=PLATFORMS,
        actions=ACTION_TYPES,
        products=DynamoProductStore(client, table),
        listings=listings,
        tasks=DynamoTaskStore(client, table, settings.jobs_table),
        new_work=new_work,
        clock=utc_now,
    )
    store = publishing_store(settings)

    def new_worker(handler: Handler) -> Worker:
        return Worker(
            store=store,
            queue=NullJobQueue(),
            kinds=all_kinds(),
            handlers={PUBLISH: handler},
            clock=utc_now,
            random=random.random,
            new_owner=lambda: uuid4().hex,
        )

    return JobStep(
        new_worker=new_worker,
        publish=handler,
        driver=driver(settings, store),
        store=store,
        slots=DynamoSemaphore(client, table),
        clock=utc_now,
    )

"""Products, jobs and workers, with the fake marketplaces behind them."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.jobs import rules
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.models import Job, JobRef
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.ports import JobQueue
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel import bounds
from spinneret.kernel.ids import id_maker
from spinneret.marketplace import limits
from spinneret.marketplace.calls.service import (
    MarketplaceTransport,
    SellerApiClient,
    SellerApiClients,
)
from spinneret.marketplace.connections.models import ConnectionStatus, SellerConnection
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.service import ConnectionService
from spinneret.marketplace.connections.tokens import ACCESS, REFRESH, SellerTokens, TokenEndpoint
from spinneret.marketplace.connections.vault import TokenVault
from spinneret.marketplace.images import ImageSource
from spinneret.marketplace.imports.matching import ListingImport
from spinneret.marketplace.kinds import KINDS, PUBLISH, PUBLISH_BATCH
from spinneret.marketplace.orders.polling import OrderPolling
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.plugins.inbox import PluginCallbacks, PluginInbox
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.preferences.service import PreferenceService
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.marketplace.products.service import ProductService
from spinneret.marketplace.publishing.actions import action_types
from spinneret.marketplace.publishing.choices import ChoiceReader
from spinneret.marketplace.publishing.commands import Command
from spinneret.marketplace.publishing.contexts import StepContexts
from spinneret.marketplace.publishing.dispatch import Dispatcher, batch_preparation
from spinneret.marketplace.publishing.drafting import Drafter
from spinneret.marketplace.publishing.engine import PublishHandler
from spinneret.marketplace.publishing.job_step import JobStep, NullJobQueue
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult
from spinneret.marketplace.publishing.next_jobs import NextJobsStep
from spinneret.marketplace.publishing.planning import Planner
from spinneret.marketplace.publishing.plans import Platform
from spinneret.marketplace.publishing.preflight import run_preflight
from spinneret.marketplace.publishing.seller_jobs import SellerJobService
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.publishing.statistics import ActionStatistics
from spinneret.marketplace.publishing.work import StepServices
from spinneret.marketplace.registry import BY_PLUGIN, PLATFORMS, READ, SILENT
from tests.contract.backends import Tables
from tests.fakes.deep_crawling import FakeExecutions
from tests.fakes.jobs import FakeJobQueue
from tests.fakes.sealing import FakeSealer
from tests.fakes.state_machine import FakeCallbacks, Lost, StateMachine
from tests.fakes.time import HandClock
from tests.markets.ebay import KEYS as EBAY_KEYS
from tests.markets.ebay import FakeEbay
from tests.markets.etsy import KEYS as ETSY_KEYS
from tests.markets.etsy import FakeEtsy
from tests.markets.plugin import FakePlugin
from tests.markets.recording import record
from tests.markets.stores import Stores, on_tables
from tests.markets.web import FakeWeb

TENANT = "acme"
SECONDS = 115.0  # time of an invocation without its start
IMAGES = ("https://images.example/front.jpg", "https://images.example/back.jpg")
CATEGORIES = {"etsy": "1837", "vinted": "99"}


class MarketWorld:
    """Everything that a seller and the workers need."""

    def __init__(
        self,
        stored: Stores | Tables,
        tenant: str = TENANT,
        platforms: Mapping[str, Platform] = PLATFORMS,
    ) -> None:
        self.stores = on_tables(stored) if isinstance(stored, Tables) else stored
        self.tenant = tenant
        self.clock = HandClock()
        self.ebay, self.etsy = FakeEbay(self.clock), FakeEtsy(self.clock)
        self.web = FakeWeb({"/v3/": self.etsy, "/": self.ebay})
        if platforms is PLATFORMS:  # other platforms have no description for their requests
            self.web.record = record
        self.web.images = dict.fromkeys(IMAGES, b"jpeg")
        self.queue = FakeJobQueue()
        self.platforms = platforms
        stores = self.stores
        self.statistics = stores.statistics
        self.store = PublishingJobStore(stores.jobs, ActionStatistics(store=self.statistics))
        self.ends = ParentEnds(store=self.store, clock=self.clock)
        self.store.listen(self.ends)
        self.products, self.listings, self.tasks = stores.products, stores.listings, stores.tasks
        self.connections, self.sales = stores.connections, stores.sales
        self.plugins = stores.plugins
        self.callbacks = FakeCallbacks()
        self.readers: set[str] = set()
        """Ids of API keys with read-only access."""
        self.inbox = PluginInbox(
            store=self.plugins,
            tokens=self.callbacks,
            marketplaces=BY_PLUGIN,
            may_act=lambda _, key_id: key_id not in self.readers,
            clock=self.clock,
        )
        self.plugin = FakePlugin(self.inbox, tenant)
        self.vault = TokenVault(sealer=FakeSealer())
        self.secrets = ConfiguredSecrets(read=lambda: {"ebay": EBAY_KEYS, "etsy": ETSY_KEYS})
        hosts = {name: origin for each in platforms.values() for name, origin in each.hosts.items()}
        self.transport = MarketplaceTransport(fetcher=self.web, hosts=hosts)
        apps = {name: each.app for name, each in platforms.items() if each.app is not None}
        self.apps = apps
        self.tokens = self.new_tokens(self.connections)
        self.connecting = ConnectionService(
            store=self.connections,
            secrets=self.secrets,
            vault=self.vault,
            endpoint=TokenEndpoint(transport=self.transport),
            apps=apps,
            hosts=hosts,
            clock=self.clock,
            random=lambda size: bytes(range(size)),
        )
        self.new_id = id_maker(self.clock)
        self.owners = (f"owner-{n}" for n in itertools.count(1))
        self.control = JobControl(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
        )
        self.publishing = PublishingService(
            jobs=JobService(
                store=self.store,
                queue=self.queue,
                kinds=KINDS,
                clock=self.clock,
                new_id=self.new_id,
            ),
            control=self.control,
            products=self.products,
            task_store=self.tasks,
            drafter=Drafter(
                products=self.products,
                listings=self.listings,
                preferences=stores.preferences,
                actions=action_types(platforms),
                checks={name: platform.check for name, platform in platforms.items()},
                clock=self.clock,
                new_hex=lambda: self.new_id("x")[2:],
            ),
            begin_batch=None,
        )
        self.planner = Planner(
            products=self.products,
            listings=self.listings,
            preferences=stores.preferences,
            platforms=platforms,
            actions=action_types(platforms),
            run_preflight=self._preflight,
        )
        self.book = OrderBook(
            sales=self.sales,
            products=self.products,
            listings=self.listings,
            preferences=stores.preferences,
            jobs=self.seller_jobs,
            clock=self.clock,
            silent=SILENT,
        )
        self.polling = OrderPolling(
            sales=self.sales,
            connections=self.connections,
            book=self.book,
            jobs=self.seller_jobs,
            marketplaces=READ,
        )
        self.cataloguing = ProductService(
            store=self.products,
            listings=self.listings,
            marketplaces=self.choices,
            clock=self.clock,
            new_id=self.new_id,
        )
        self.effects = SideEffects(store=stores.effects, clock=self.clock)
        self.remaining = SECONDS
        self.slots = stores.slots
        self.executions = FakeExecutions()
        self.deliveries = 1
        """Number of deliveries of each message."""
        self.ran: set[str] = set()
        """Names of executions that have run or were lost."""
        self.segment_steps, self.round_jobs = 1000, limits.PUBLISH_ROUND_JOBS
        self.at_once = limits.PUBLISHED_AT_ONCE
        self.machine = StateMachine(
            "publish_batch",
            {
                "Take": lambda state: self.next_jobs().take(state, lambda: self.remaining),
                "Step": lambda state: self.job_step().step(state, lambda: self.remaining),
                "Callback": self.wait_for_callback,
            },
            self.clock,
            self.callbacks,
        )

    @property
    def seller_jobs(self) -> SellerJobService:
        """Return the service that submits jobs without a request of the seller."""
        return SellerJobService(jobs=self.publishing.jobs, drafter=self.publishing.drafter)

    @property
    def preferring(self) -> PreferenceService:
        """Return the service for the seller's preferences."""
        return PreferenceService(
            store=self.stores.preferences,
            marketplaces=self.choices,
            clock=self.clock,
        )

    @property
    def importing(self) -> ListingImport:
        """Return the service that matches listings with products."""
        return ListingImport(
            products=self.products,
            catalogue=self.cataloguing,
            listings=self.listings,
            rows=self.stores.imports,
            clock=self.clock,
        )

    @property
    def choices(self) -> Mapping[str, Collection[str]]:
        """Return the names of the seller's choices, by marketplace."""
        return {
            name: each.choosing.names.keys() if each.choosing else ()
            for name, each in self.platforms.items()
        }

    @property
    def choosing(self) -> ChoiceReader:
        """Return the reader of the options that the seller may choose."""
        return ChoiceReader(
            choosing={name: each.choosing for name, each in self.platforms.items()},
            calls=lambda _, marketplace: self.calls(marketplace),
        )

    def new_tokens(self, store: SellerConnectionStore) -> SellerTokens:
        """Return the token provider of a new process."""
        return SellerTokens(
            store=store,
            secrets=self.secrets,
            vault=self.vault,
            endpoint=TokenEndpoint(transport=self.transport),
            apps=self.apps,
            clock=self.clock,
        )

    def connect(self, marketplace: str, seconds: float = 7200) -> None:
        """Store a connection to which the seller has consented."""
        token = {"ebay": "access-0", "etsy": "77.access-0"}[marketplace]
        refresh = {"ebay": "refresh-0", "etsy": "77.refresh-0"}[marketplace]
        app = self.platforms[marketplace].app
        assert app is not None
        self.connections.put(
            SellerConnection(
                tenant=self.tenant,
                marketplace=marketplace,
                status=ConnectionStatus.ACTIVE,
                sealed_access=self.vault.seal(self.tenant, marketplace, ACCESS, token),
                sealed_refresh=self.vault.seal(self.tenant, marketplace, REFRESH, refresh),
                scopes=app.scopes,
                account=None,
                expires_at=self.clock() + timedelta(seconds=seconds),
                refresh_expires_at=None,
                connected_at=self.clock(),
            )
        )

    def product(self, title: str = "Wool coat", **changes: Any) -> Product:
        """Create a product that every marketplace accepts."""
        content = ProductContent(
            title=title,
            description="Worn twice.",
            price=8900,
            currency="EUR",
            quantity=1,
            images=IMAGES,
            attributes={"brand": "barbour", "condition": "good", "color": "navy"},
        )
        overrides = {name: ProductOverride(category_id=each) for name, each in CATEGORIES.items()}
        wanted = replace(content, **changes)
        return self.cataloguing.create(self.tenant, None, wanted, overrides)

    def edit(self, product: Product, **changes: Any) -> Product:
        """Update a product as its seller."""
        content = replace(product.content, **changes)
        return self.cataloguing.update(self.tenant, product.id, None, content, product.overrides)

    def submit(
        self, action: str, marketplace: str, product: Product | None = None, **given: Any
    ) -> JobRef:
        """Submit an action."""
        command = Command(
            marketplace=marketplace,
            action_code=action,
            product_id=product.id if product else None,
            input_data=given,
        )
        made = self.publishing.submit(
            self.tenant, command, None, None, lambda job: {"job_id": job.id}
        )
        return JobRef(tenant=self.tenant, job_id=str(made.reply.body["job_id"]))

    def submit_batch(self, action: str, marketplace: str, ids: list[str]) -> JobRef:
        """Submit an action on several products; return the batch."""
        made = self.publishing.submit_batch(
            self.tenant, marketplace, action, ids, None, None, lambda job, _: {"id": job.id}
        )
        return JobRef(tenant=self.tenant, job_id=str(made.reply.body["id"]))

    def dispatcher(self) -> Dispatcher:
        """Return the dispatcher of a new process that serves the lanes."""
        makes = Children(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            new_id=self.new_id,
            move=self.control.move,
            led_seconds=limits.PUBLISH_LED_SECONDS,
        )
        starter = Starter(executions=self.executions, prepare=batch_preparation(makes, self.clock))
        return Dispatcher(
            store=self.store,
            batches=self._worker({PUBLISH_BATCH: starter}, self.queue),
            executions=self.executions,
            clock=self.clock,
        )

    def next_jobs(self) -> NextJobsStep:
        """Return the state machine's first step in a new process."""
        return NextJobsStep(
            driver=self._driver(),
            store=self.store,
            clock=self.clock,
            segment_steps=self.segment_steps,
            round_jobs=self.round_jobs,
        )

    def job_step(self) -> JobStep:
        """Return the step that handles one job, in a new process."""
        handler = PublishHandler(
            platforms=self.platforms,
            actions=action_types(self.platforms),
            products=self.products,
            listings=self.listings,
            tasks=self.tasks,
            preferences=self.stores.preferences,
            new_work=StepContexts(
                clients=self.clients,
                listings=self.listings,
                effects=self.effects,
                services=StepServices(
                    browser=PluginTransport(
                        store=self.plugins, sockets=self.plugin, clock=self.clock
                    ),
                    images=ImageSource(fetcher=self.web),
                    orders=self.book,
                    imports=self.importing,
                ),
                clock=self.clock,
            ),
            clock=self.clock,
        )
        return JobStep(
            new_worker=lambda given: self._worker({PUBLISH: given}, NullJobQueue()),
            publish=handler,
            driver=self._driver(),
            store=self.store,
            slots=self.slots,
            clock=self.clock,
            at_once=self.at_once,
        )

    def wait_for_callback(self, state: Any) -> None:
        """Start to wait for a callback, as the state machine does."""
        PluginCallbacks(store=self.plugins, tokens=self.callbacks, clock=self.clock).wait(
            state, lambda: self.remaining
        )

    def _driver(self) -> Driver:
        return Driver(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            random=lambda: 0.5,
        )

    def _worker(self, handlers: Mapping[str, Handler], queue: JobQueue) -> Worker:
        return Worker(
            store=self.store,
            queue=queue,
            kinds=KINDS,
            handlers=handlers,
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: next(self.owners),
            sleep=self.clock.advance,
        )

    def job(self, ref: JobRef) -> Job:
        """Return the current job."""
        found = self.store.get(ref)
        assert found is not None
        return found

    def once(self, ref: JobRef) -> Job:
        """Run one step of the job; return the job."""
        state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": 0}
        self.job_step().step(state, lambda: self.remaining)
        return self.job(ref)

    def dispatch(self, ref: JobRef) -> None:
        """Deliver one message of the job."""
        self.dispatcher().run(ref, lambda: self.remaining)

    def execute(self) -> None:
        """Run all started executions to their ends; a lost one ends without an error."""
        for name, state in list(self.executions.started.items()):
            if name not in self.ran:
                self.ran.add(name)
                try:
                    self.machine.run(state)
                except Lost:
                    continue

    def deliver(self) -> None:
        """Deliver every waiting message and run the executions that they start.

        Repeated deliveries of a message follow after these executions have ended.
        """
        sent = self.queue.take()
        for number in range(self.deliveries):
            for each in sent:
                self.clock.advance(0 if number else each.delay)
                self.dispatch(each.ref)
            self.execute()

    def finish(self, ref: JobRef, most: int = 60) -> Job:
        """Deliver messages, run executions, advance time and sweep until the job has ended."""
        self.deliver()
        for _ in range(most):
            job = self.job(ref)
            if job.status in rules.TERMINAL:
                return job
            moment = rules.sweep_at(job)
            assert moment is not None, job
            self.clock.now = max(self.clock(), moment)
            self.clock.advance(bounds.CLOCK_SKEW_SECONDS)
            self.sweep()
            self.deliver()
        raise AssertionError(f"not ended: {self.job(ref)}")

    def done(
        self, action: str, marketplace: str, product: Product | None = None, **given: Any
    ) -> Job:
        """Submit an action and finish its job."""
        return self.finish(self.submit(action, marketplace, product, **given))

    def waiting(self) -> dict[str, Job]:
        """Return the pending ones of the 50 newest jobs, by `<action> <marketplace>`."""
        jobs = self.publishing.page(self.tenant, None, None, None, None, 50).items
        return {
            f"{each.job.payload['action_code']} {each.job.domain}": each.job
            for each in jobs
            if each.job.status == "pending"
        }

    def statuses(self, ref: JobRef) -> list[str]:
        """Return the statuses of the job's tasks."""
        return [task.status.value for task in self.tasks.of_job(self.tenant, ref.job_id)]

    def sweep(self) -> None:
        """Run one pass of the sweeper."""
        Sweeper(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            look_at_parent=ParentRecheck(
                store=self.store, ends=self.ends, control=self.control, clock=self.clock
            ),
        ).sweep()

    @property
    def clients(self) -> SellerApiClients:
        """Return the factory of the sellers' API clients."""
        return SellerApiClients(
            transport=self.transport,
            rate_limiter=self.stores.rate_limiter,
            tokens=self.tokens,
            apps=self.apps,
            clock=self.clock,
            sleep=self.clock.advance,
        )

    def calls(self, marketplace: str) -> SellerApiClient:
        """Return the API client of the seller for one request to Spinneret."""
        return self.clients.client(self.tenant, marketplace, lambda: self.remaining)

    def _preflight(
        self, _: str, marketplace: str, candidates: Sequence[PlannedListing]
    ) -> Mapping[str, PreflightResult]:
        calls = self.calls(marketplace)
        return run_preflight(self.platforms[marketplace], calls, candidates)

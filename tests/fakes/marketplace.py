"""The marketplace stores in memory; a FakeJobStore checks their leases."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from spinneret.jobs.models import Job, JobRef, JobStatus, Lease
from spinneret.kernel.errors import Conflict, LeaseLost
from spinneret.kernel.paging import Page
from spinneret.marketplace.calls.dynamo import BURST, CALLS_PER_SECOND
from spinneret.marketplace.connections.models import PendingConsent, Seller, SellerConnection
from spinneret.marketplace.imports.models import ImportedListing
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.listings.rules import held_by, is_begun
from spinneret.marketplace.orders.models import Sale
from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer, Sent
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.publishing.statistics import DayOfAction
from spinneret.marketplace.tasks.models import Task
from tests.fakes.jobs import FakeJobStore, through_json
from tests.fakes.named import FakeNamedStore

_INTERVAL_MS = 1000 // CALLS_PER_SECOND


class FakeProductStore(FakeNamedStore[Product]):
    """Implements ProductStore."""

    def __init__(self) -> None:
        super().__init__(lambda rows, after: Page(items=rows, after=after))

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(row.id for row in self.many(tenant, product_ids))

    def _require_free_name(self, row: Product) -> None:
        try:
            super()._require_free_name(row)
        except Conflict as error:
            raise Conflict.of_field("sku", "another product has this SKU") from error


class FakeListingStore:
    """Implements ListingStore; a product that no longer exists holds no ids."""

    def __init__(self, jobs: FakeJobStore, products: FakeProductStore) -> None:
        self._jobs = jobs
        self._products = products
        self._holders: dict[tuple[str, str, str], str] = {}
        self._rows: dict[tuple[str, str], Listing] = {}

    def get(self, tenant: str, product_id: str, marketplace: str) -> Listing | None:
        return self._rows.get((tenant, f"{product_id}#{marketplace}"))

    def of_product(self, tenant: str, product_id: str) -> list[Listing]:
        return [row for row in self._of(tenant).values() if row.product_id == product_id]

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Listing]:
        rows = [(key, row) for key, row in self._of(tenant).items() if key > (after or "")]
        return Page.cut(rows[: limit + 1], limit, lambda row: row[0]).map(lambda row: row[1])

    def holder(self, tenant: str, marketplace: str, external_id: str) -> str | None:
        return self._holders.get((tenant, marketplace, external_id))

    def add(self, product: Product, listing: Listing, lease: Lease) -> None:
        _hold(self._jobs, lease)
        self._require_free_ids(listing)
        self._products.add(product)
        self.put(None, listing)

    def save(self, former: Listing | None, listing: Listing, lease: Lease | None = None) -> bool:
        key = listing.tenant, f"{listing.product_id}#{listing.marketplace}"
        standing = self._rows.get(key)
        if (standing.version if standing else 0) != listing.version - 1:
            return standing == listing
        _hold(self._jobs, lease)
        product = self._products.get(listing.tenant, listing.product_id)
        begins = is_begun(former, listing)
        if begins and (product is None or product.sku != listing.sku):
            return False
        self._require_free_ids(listing)
        if begins and product is not None:
            self._products.replace(product, replace(product, version=product.version + 1))
        self.put(former, listing)
        return True

    def put(self, former: Listing | None, listing: Listing) -> None:
        """Store the record and the rows of its ids, without a check of its product."""
        place = listing.tenant, listing.marketplace
        for each in former.held - listing.held if former else ():
            if self.holder(*place, each) == listing.product_id:
                del self._holders[*place, each]
        self._holders |= {(*place, each): listing.product_id for each in listing.held}
        self._rows[listing.tenant, f"{listing.product_id}#{listing.marketplace}"] = listing

    def _require_free_ids(self, listing: Listing) -> None:
        for each in listing.held:
            holder = self.holder(listing.tenant, listing.marketplace, each)
            if holder is not None and self._is_others(listing, holder):
                raise held_by(holder, listing.marketplace, each)

    def _is_others(self, listing: Listing, holder: str) -> bool:
        exists = self._products.get(listing.tenant, holder) is not None
        return holder != listing.product_id and exists

    def _of(self, tenant: str) -> dict[str, Listing]:
        return {key: row for (owner, key), row in sorted(self._rows.items()) if owner == tenant}


class FakeTaskStore:
    """Implements TaskStore."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._rows: defaultdict[tuple[str, str], dict[int, Task]] = defaultdict(dict)

    def of_job(self, tenant: str, job_id: str) -> list[Task]:
        return [task for _, task in sorted(self._rows[tenant, job_id].items())]

    def save(self, lease: Lease, tasks: Sequence[Task]) -> None:
        _hold(self._jobs, lease)
        for task in tasks:
            stored = replace(
                task,
                payload=through_json(task.payload),
                result=through_json(task.result),
                error_details=through_json(task.error_details),
            )
            self._rows[task.tenant, task.job_id][task.position] = stored

    def drop(self, lease: Lease, tasks: Sequence[Task]) -> None:
        _hold(self._jobs, lease)
        for task in tasks:
            del self._rows[task.tenant, task.job_id][task.position]


class FakeImportStore:
    """Implements ListingImportStore."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._positions: dict[JobRef, str] = {}
        self._rows: defaultdict[JobRef, dict[str, ImportedListing]] = defaultdict(dict)

    def position(self, ref: JobRef) -> str | None:
        return self._positions.get(ref)

    def keep(
        self,
        lease: Lease,
        listings: Sequence[ImportedListing],
        after: str | None,
        now: datetime,
    ) -> None:
        _hold(self._jobs, lease)
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        self._rows[ref] |= {each.external_id: each for each in listings}
        if after is not None:
            self._positions[ref] = after

    def decide(self, lease: Lease, listing: ImportedListing) -> None:
        _hold(self._jobs, lease)
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        self._rows[ref][listing.external_id] = listing

    def page(self, ref: JobRef, after: str | None, limit: int) -> Page[ImportedListing]:
        rows = [each for key, each in sorted(self._rows[ref].items()) if key > (after or "")]
        return Page.cut(rows[: limit + 1], limit, lambda row: row.external_id)


class FakeConnections:
    """Implements SellerConnectionStore."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], SellerConnection] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self._consents: dict[tuple[str, str], PendingConsent] = {}
        self._sellers: dict[str, Seller] = {}

    def get(self, tenant: str, marketplace: str) -> SellerConnection | None:
        return self._rows.get((tenant, marketplace))

    def put(self, connection: SellerConnection) -> None:
        former = self._rows.get((connection.tenant, connection.marketplace))
        version = former.version + 1 if former else connection.first_version
        self._write(replace(connection, version=version))

    def replace(self, connection: SellerConnection) -> bool:
        former = self._rows.get((connection.tenant, connection.marketplace))
        if former is None or former.version != connection.version - 1:
            return False
        self._write(connection)
        return True

    def owner(self, marketplace: str, account: str) -> str | None:
        return self._owners.get((marketplace, account))

    def remove(self, tenant: str, marketplace: str) -> None:
        self._rows.pop((tenant, marketplace), None)
        self._sellers.pop(_name(Seller(tenant=tenant, marketplace=marketplace)), None)

    def forget(self, seller: Seller) -> None:
        if (seller.tenant, seller.marketplace) not in self._rows:
            self._sellers.pop(_name(seller), None)

    def sellers(self, after: str | None, limit: int) -> Page[Seller]:
        names = [name for name in sorted(self._sellers) if name > (after or "")]
        shown = names[:limit]
        return Page(
            items=tuple(self._sellers[name] for name in shown),
            after=shown[-1] if len(names) > limit else None,
        )

    def polled(self, seller: Seller) -> None:
        if _name(seller) in self._sellers:
            self._sellers[_name(seller)] = seller

    def begin(self, consent: PendingConsent) -> None:
        self._consents[consent.tenant, consent.state_hash] = consent

    def take(self, tenant: str, state_hash: str) -> PendingConsent | None:
        return self._consents.pop((tenant, state_hash), None)

    def _write(self, connection: SellerConnection) -> None:
        stored = replace(connection, settings=through_json(connection.settings))
        self._rows[connection.tenant, connection.marketplace] = stored
        seller = Seller(tenant=connection.tenant, marketplace=connection.marketplace)
        self._sellers.setdefault(_name(seller), seller)
        if connection.account is not None:
            self._owners[connection.marketplace, connection.account] = connection.tenant


class FakePreferences:
    """Implements PreferenceStore."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Preferences] = {}

    def get(self, tenant: str, marketplace: str) -> Preferences:
        unset = Preferences(tenant=tenant, marketplace=marketplace)
        return self._rows.get((tenant, marketplace), unset)

    def replace(self, preferences: Preferences) -> bool:
        key = preferences.tenant, preferences.marketplace
        if self.get(*key).version != preferences.version - 1:
            return self.get(*key) == preferences
        self._rows[key] = preferences
        return True


def _name(seller: Seller) -> str:
    return f"{seller.marketplace}#{seller.tenant}"


class FakeSaleStore:
    """Implements SaleStore; sales change the stock in a FakeProductStore."""

    def __init__(self, products: FakeProductStore) -> None:
        self._products = products
        self._rows: dict[tuple[str, str], Sale] = {}
        self._read: dict[tuple[str, str], datetime] = {}
        self._positions: dict[str, str | None] = {}

    def get(self, tenant: str, key: str) -> Sale | None:
        return self._rows.get((tenant, key))

    def reserve(self, sale: Sale) -> bool:
        return self._with_stock(sale, -sale.quantity)

    def give_back(self, sale: Sale) -> bool:
        return self._with_stock(sale, sale.quantity)

    def _with_stock(self, sale: Sale, change: int) -> bool:
        product = self._products.get(sale.tenant, str(sale.product_id))
        if product is None or product.content.quantity + change < 0 or not self.put(sale):
            return False
        stock = replace(product.content, quantity=product.content.quantity + change)
        after = replace(product, content=stock, version=product.version + 1)
        return self._products.replace(product, after)

    def put(self, sale: Sale) -> bool:
        standing = self._rows.get((sale.tenant, sale.key))
        if (standing.version if standing else 0) != sale.version - 1:
            return False
        self._rows[sale.tenant, sale.key] = sale
        return True

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        return [sale for _, sale in self._of(tenant) if sale.product_id == product_id][:100]

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        rows = [(key, sale) for key, sale in self._of(tenant) if key > (after or "")]
        shown = rows[:limit]
        return Page(
            items=tuple(sale for _, sale in shown),
            after=shown[-1][0] if len(rows) > limit else None,
        )

    def open(self, after: str | None, limit: int) -> Page[tuple[str, str]]:
        names = sorted(
            f"{tenant}#{key}" for (tenant, key), sale in self._rows.items() if not sale.handled
        )
        left = [name for name in names if name > (after or "")]
        found = [name.partition("#")[::2] for name in left[:limit]]
        return Page(items=tuple(found), after=left[limit - 1] if len(left) > limit else None)

    def position(self, walk: str) -> str | None:
        return self._positions.get(walk)

    def keep_position(self, walk: str, after: str | None) -> None:
        self._positions[walk] = after

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        return self._read.get((tenant, marketplace))

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        self._read[tenant, marketplace] = moment

    def _of(self, tenant: str) -> list[tuple[str, Sale]]:
        return sorted((key, sale) for (owner, key), sale in self._rows.items() if owner == tenant)


class FakeSellerRateLimiter:
    """Implements SellerRateLimiter by the algorithm of the real one, GCRA."""

    def __init__(self) -> None:
        self._free_at: dict[tuple[str, str], int] = {}
        self._held_until: dict[tuple[str, str], int] = {}

    def take(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        seller, millis = (tenant, marketplace), _millis(now)
        held, free = self._held_until.get(seller, 0), self._free_at.get(seller, 0)
        if held <= millis and free <= millis + BURST * _INTERVAL_MS:
            self._free_at[seller] = max(free, millis) + _INTERVAL_MS
            return now
        ahead = free - BURST * _INTERVAL_MS
        return datetime.fromtimestamp(max(held, ahead, millis + 1) / 1000, UTC)

    def hold(self, tenant: str, marketplace: str, until: datetime) -> None:
        seller = tenant, marketplace
        self._held_until[seller] = max(_millis(until), self._held_until.get(seller, 0))


class FakeStatistics:
    """Implements ActionStatisticsStore."""

    def __init__(self) -> None:
        self._counted: set[tuple[str, str, int]] = set()
        self._rows: defaultdict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)

    def count(self, job: Job, outcome: str, seconds: int) -> None:
        mark = job.tenant, job.id, job.run
        if mark in self._counted:
            return
        self._counted.add(mark)
        day = (job.finished_at or job.created_at).date().isoformat()
        place = job.tenant, day, job.payload["marketplace"], job.payload["action_code"]
        self._rows[place].update({outcome: 1, "seconds": seconds})

    def of_day(self, tenant: str, day: str) -> list[DayOfAction]:
        return [
            DayOfAction(day=day, marketplace=marketplace, action_code=action, **counts)
            for (owner, at, marketplace, action), counts in sorted(self._rows.items())
            if (owner, at) == (tenant, day)
        ]


class FakePluginStore:
    """Implements PluginStore."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._plugins: dict[tuple[str, str, str], Plugin] = {}
        self._sent: dict[tuple[str, str], tuple[Sent, set[str]]] = {}
        self._rounds: dict[tuple[str, str], int] = {}
        self._tokens: dict[str, dict[str, str]] = {}

    def connect(self, plugin: Plugin) -> None:
        self._plugins[plugin.tenant, plugin.marketplace, plugin.connection_id] = plugin

    def newest(self, tenant: str, marketplace: str) -> list[Plugin]:
        found = [
            plugin
            for (owner, at, _), plugin in self._plugins.items()
            if (owner, at) == (tenant, marketplace)
        ]
        return sorted(found, key=lambda plugin: plugin.connected_at, reverse=True)

    def gone(self, plugin: Plugin) -> None:
        self._plugins.pop((plugin.tenant, plugin.marketplace, plugin.connection_id), None)

    def sent(self, tenant: str, key: str) -> Sent | None:
        found = self._sent.get((tenant, key))
        return found[0] if found else None

    def send(self, plugin: Plugin, key: str, content: str, now: datetime) -> int:
        number = self._rounds.setdefault((plugin.tenant, key), 0)
        new = Sent(number=number, sent_at=now, accepted_by=None, accepted_at=None, answer=None)
        sent, connections = self._sent.get((plugin.tenant, key), (new, set[str]()))
        after = replace(sent, contents=sent.contents | {content})
        self._sent[plugin.tenant, key] = after, connections | {plugin.connection_id}
        return number

    def begin_again(self, tenant: str, key: str, number: int) -> None:
        if self._rounds.get((tenant, key)) == number:
            self._sent.pop((tenant, key), None)
            self._rounds[tenant, key] += 1

    def withdraw(self, tenant: str, key: str, number: int) -> bool:
        known = self.sent(tenant, key)
        if known is None or known.number != number or known.accepted_by or known.answer:
            return False
        self.begin_again(tenant, key, number)
        return True

    def accept(
        self, tenant: str, key: str, number: int, connection_id: str, browser: str, now: datetime
    ) -> bool:
        known = self.sent(tenant, key)
        if known is not None and (known.answer or known.accepted_by not in (None, browser)):
            return False
        since = (known.accepted_at if known else None) or now
        changes = {"accepted_by": browser, "accepted_at": since}
        return self._change(tenant, key, number, connection_id, **changes)

    def wait(self, wait: CallbackWait, now: datetime) -> bool:
        job = self._jobs.get(wait.ref)
        if job is None or (job.status, job.fence) != (JobStatus.PENDING, wait.fence):
            return False
        self._tokens.setdefault(wait.ref.tenant, {})[wait.key] = wait.token
        return True

    def waiting(self, tenant: str) -> list[str]:
        return sorted(self._tokens.get(tenant, {}))

    def token(self, tenant: str, key: str) -> str | None:
        return self._tokens.get(tenant, {}).get(key)

    def take_token(self, tenant: str, key: str) -> str | None:
        return self._tokens.get(tenant, {}).pop(key, None)

    def answer(
        self,
        tenant: str,
        key: str,
        number: int,
        connection_id: str,
        browser: str,
        answer: PluginAnswer,
    ) -> bool:
        known = self.sent(tenant, key)
        first = known.answer if known and known.answer else through_answer(answer)
        if known is not None and known.accepted_by == browser:
            connection_id = min(self._sent[tenant, key][1])  # counts as a connection with the task
        return self._change(tenant, key, number, connection_id, answer=first)

    def _change(
        self, tenant: str, key: str, number: int, connection_id: str, **changes: Any
    ) -> bool:
        sent, connections = self._sent.get((tenant, key), (None, set[str]()))
        if sent is None or connection_id not in connections:
            return False
        if self._rounds.get((tenant, key), 0) != number:
            return False
        self._sent[tenant, key] = replace(sent, **changes), connections
        return True


def through_answer(answer: PluginAnswer) -> PluginAnswer:
    return PluginAnswer(status=answer.status, body=through_json(answer.body))


def _hold(jobs: FakeJobStore, lease: Lease | None) -> None:
    if lease is not None and not jobs.holds(lease):
        raise LeaseLost("the job is no longer held by this claim")


def _millis(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)

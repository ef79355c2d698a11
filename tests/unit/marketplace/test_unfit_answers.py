"""A response without its documented content is an unknown outcome: the job reads back the state.

Nothing is listed twice and no job fails for good. A short inconsistency is no refusal.
"""

# covers B-04

from collections.abc import Callable, Mapping
from itertools import product as pairs
from typing import Any

import pytest

from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.marketplace.connections.models import ConnectionStatus
from tests.markets.answers import (
    EBAY_SHORT,
    ETSY_SHORT,
    GATEWAY,
    UNFIT,
    change_call,
    number_calls,
    replace_call,
)
from tests.markets.crashing import fresh
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.sampling import sampled, spread

Begin = Callable[[MarketWorld], JobRef]


def _listed(marketplace: str) -> Begin:
    def begin(world: MarketWorld) -> JobRef:
        return world.submit("publish", marketplace, world.product())

    return begin


def _then(marketplace: str, action: str, **changes: object) -> Begin:
    def begin(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        product = world.edit(product, **changes) if changes else product
        return world.submit(action, marketplace, product)

    return begin


def _orders(marketplace: str) -> Begin:
    def begin(world: MarketWorld) -> JobRef:
        product = world.product(quantity=3)
        world.done("publish", marketplace, product)
        if marketplace == "ebay":
            world.ebay.sell(product.sku, "o-1")
        else:
            world.etsy.sell(product.sku, 1)
        return world.submit("orders", marketplace)

    return begin


def _message(world: MarketWorld) -> JobRef:
    return world.submit("message", "ebay", None, text="hello", conversation_id="c1")


def _linked(marketplace: str) -> Begin:
    def begin(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        [listing] = world.listings.of_product(world.tenant, product.id)
        return world.submit(
            "link_product", marketplace, product, external_id=str(listing.external_id)
        )

    return begin


STORIES: dict[str, tuple[Begin, int]] = {
    **{
        f"{action} {marketplace}": each
        for marketplace in ("ebay", "etsy")
        for action, each in {
            "publish": (_listed(marketplace), 1),
            "update": (_then(marketplace, "update", price=7500, description="Worn thrice."), 1),
            "delete": (_then(marketplace, "delete"), 0),
            "sync": (_then(marketplace, "sync"), 1),
            "orders": (_orders(marketplace), 1),
            "link": (_linked(marketplace), 1),
        }.items()
    },
    "reprice ebay": (_then("ebay", "update", price=7500), 1),
    "message ebay": (_message, 0),
}
"""Function that submits a job, and the number of listings at its end, by story."""


def _world() -> MarketWorld:
    world = fresh(None)
    world.etsy.visible_after = 90.0
    return world


def _calls(begin: Begin) -> list[str]:
    world = _world()
    ref = begin(world)
    names = number_calls(world)
    assert world.finish(ref).status == "completed"
    return names


def _holds(world: MarketWorld, job: Job, listings: int, where: str) -> None:
    assert job.status is JobStatus.COMPLETED, f"{where}: {job.last_error}"
    assert len(world.ebay.listings) + len(world.etsy.listings) == listings, where
    assert len(world.ebay.messages) <= 1, where
    for connection in ("ebay", "etsy"):
        status = world.connecting.get(world.tenant, connection).status
        assert status is ConnectionStatus.ACTIVE, where
    assert {sale.quantity for sale in world.sales.page(world.tenant, None, 9).items} <= {1}, where
    tasks = world.tasks.of_job(world.tenant, job.id)
    assert {task.status for task in tasks} == {"success"}, where
    assert {task.unsettled_since for task in tasks} == {None}, where
    for listing in world.listings.page(world.tenant, None, 9).items:
        assert listing.state == ("active" if listings else "ended"), where


def _short(story: str) -> Mapping[str, Any]:
    return EBAY_SHORT if story.endswith("ebay") else {"404": ETSY_SHORT}


CHANGES: dict[
    str, tuple[Callable[[str], Mapping[str, Any]], Callable[[MarketWorld, int, Any], None]]
] = {
    "an answer without its content": (lambda _: UNFIT, change_call),
    "a success that only a gateway answered": (lambda _: GATEWAY, replace_call),
    "a short inconsistency": (_short, replace_call),
}
"""Changes to a response: the kinds of change for a story, and the function that applies one."""


@pytest.mark.parametrize(
    "case", sampled(spread(pairs(STORIES, CHANGES), 8), tested=8), ids=", ".join
)
@pytest.mark.heavy
def test_a_job_reads_back_what_an_unfit_answer_hides(case: tuple[str, str]) -> None:
    story, what = case
    begin, listings = STORIES[story]
    kinds_of, apply = CHANGES[what]
    for number, name in enumerate(_calls(begin), start=1):
        if kinds_of is _short and _is_of_account(name):
            continue
        for kind, change in kinds_of(story).items():
            world = _world()
            ref = begin(world)
            apply(world, number, change)
            _holds(world, world.finish(ref), listings, f"{story}: {kind} for {name} ({number})")


def _is_of_account(name: str) -> bool:
    """Return whether a call is about the account, not a listing: a token, Etsy's shop or orders."""
    return "token" in name or name.endswith(
        ("/shops", "/shipping-profiles", "/readiness-state-definitions", "/receipts")
    )


def test_an_inconsistency_that_lasts_is_refused_after_minutes(memory: MarketWorld) -> None:
    began = memory.clock()
    memory.web.around = lambda name, serve: (
        EBAY_SHORT["25702"] if name == "POST /sell/inventory/v1/offer" else serve()
    )
    job = memory.done("publish", "ebay", memory.product())
    assert job.last_error is not None
    assert job.last_error.code == "MARKETPLACE_REFUSED"
    assert job.last_error.details["fields"][0]["path"] == "sku"
    assert 180 <= (memory.clock() - began).total_seconds() < 600
    [failed] = [each for each in memory.tasks.of_job("acme", job.id) if each.error_message]
    assert (failed.key, failed.status, failed.unsettled_since) == ("offer", "failed", None)


def test_a_fault_that_lasts_is_no_fault_of_the_seller(memory: MarketWorld) -> None:
    memory.web.around = lambda name, serve: (
        EBAY_SHORT["25001"] if name == "POST /sell/inventory/v1/offer" else serve()
    )
    job = memory.done("publish", "ebay", memory.product())
    assert job.last_error is not None
    assert job.last_error.code == "MAX_RETRIES_EXCEEDED"
    memory.web.around = lambda _, serve: serve()
    memory.publishing.move(memory.tenant, job.id, Transition.RETRY)
    assert memory.finish(job.ref).status == "completed"


@pytest.mark.parametrize(
    "answer",
    [
        *(StubResponse(status, raw=b"<html>") for status in (200, 403, 404)),
        StubResponse(400),
        StubResponse(401, {"error": "invalid_client"}),
    ],
    ids=lambda answer: str(answer.status),
)
def test_a_token_endpoint_that_refuses_nobodys_leave_is_no_fault_of_the_seller(
    answer: StubResponse, memory: MarketWorld
) -> None:
    memory.connect("etsy", seconds=10)
    memory.web.around = lambda name, serve: answer if name.endswith("/token") else serve()
    job = memory.done("sync", "etsy", memory.product())
    assert job.last_error is not None
    assert job.last_error.code == "MAX_RETRIES_EXCEEDED"
    assert memory.connecting.get(memory.tenant, "etsy").status is ConnectionStatus.ACTIVE


def test_a_429_of_the_token_endpoint_waits_uncharged(memory: MarketWorld) -> None:
    memory.connect("etsy", seconds=10)
    busy = [StubResponse(429, None, {"Retry-After": "120"})] * 4
    memory.web.around = lambda name, serve: (
        busy.pop() if busy and name.endswith("/token") else serve()
    )
    began = memory.clock()
    job = memory.done("delete", "etsy", memory.product())
    assert (job.status, job.attempts) == ("completed", 0)
    assert (memory.clock() - began).total_seconds() >= 4 * 120

"""A process that dies at any of its calls leaves one listing, never two, and no unfinished task."""

import itertools
import os
from random import Random

import pytest

from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.marketplace.listings.models import ListingState
from tests.contract.backends import Tables
from tests.markets.crashing import DEATHS, Death, Story, calls_of, crashed
from tests.markets.world import MarketWorld
from tests.sampling import sampled

STEP = int(os.environ.get("SPINNERET_CRASH_STEP", "311"))
"""Tests with moto run one of STEP possible crashes; `make prove` runs every third crash."""


def publishing(marketplace: str) -> Story:
    def story(world: MarketWorld) -> JobRef:
        world.etsy.visible_after = 90.0
        return world.submit("publish", marketplace, world.product())

    return story


def updating(marketplace: str) -> Story:
    def story(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        edited = world.edit(product, price=7500, description="Worn thrice.")
        return world.submit("update", marketplace, edited)

    return story


def repricing(marketplace: str) -> Story:
    def story(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        return world.submit("update", marketplace, world.edit(product, price=7500, quantity=2))

    return story


def republishing(marketplace: str) -> Story:
    def story(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        return world.submit("publish", marketplace, world.edit(product, price=7500))

    return story


def deleting(marketplace: str) -> Story:
    def story(world: MarketWorld) -> JobRef:
        product = world.product()
        world.done("publish", marketplace, product)
        return world.submit("delete", marketplace, product)

    return story


def doubled(story: Story) -> Story:
    """Return the story with a plug-in that sends its earlier answers again with each answer."""

    def with_doubles(world: MarketWorld) -> JobRef:
        world.plugin.doubles = True
        return story(world)

    return with_doubles


def batch(world: MarketWorld) -> JobRef:
    ids = [world.product(title).id for title in ("One", "Two")]
    return world.submit_batch("publish", "ebay", ids)


def _standing(world: MarketWorld, marketplace: str) -> int:
    match marketplace:
        case "ebay":
            return len(world.ebay.listings)
        case "etsy":
            return len(world.etsy.listings)
        case _:
            return len(world.plugin.items)


def _all_ended(world: MarketWorld, job: Job) -> bool:
    tasks = world.tasks.of_job(world.tenant, job.id)
    return bool(tasks) and all(task.status == "success" for task in tasks)


def _record(world: MarketWorld, job: Job, marketplace: str) -> ListingState:
    found = world.listings.get(world.tenant, job.payload["product_id"], marketplace)
    assert found is not None
    return found.state


STORIES = {
    "publish": (publishing, 1, ListingState.ACTIVE),
    "update": (updating, 1, ListingState.ACTIVE),
    "reprice": (repricing, 1, ListingState.ACTIVE),
    "republish": (republishing, 1, ListingState.ACTIVE),
    "delete": (deleting, 0, ListingState.ENDED),
}
COMMON = ("publish", "update", "delete")


def _deaths(story: str, calls: list[str], every: int) -> list[tuple[int, Death]]:
    """Return every `every`-th pair of call number and death; the story determines the first."""
    everything = list(itertools.product(range(1, len(calls) + 1), DEATHS))
    return everything[Random(story).randrange(every) % len(everything) :: every]


def _prove(
    tables: Tables | None, action: str, marketplace: str, every: int, deliveries: int = 1
) -> None:
    make, listings, state = STORIES[action]
    story = make(marketplace)
    calls = calls_of(tables, story, deliveries)
    assert len(calls) > (10 if tables else 0)
    for at, death in _deaths(f"{action} {marketplace} {deliveries}", calls, every):
        world, job = crashed(tables, story, at, death, deliveries)
        where = f"{action} {marketplace}: {death} {calls[at - 1]} ({at} of {len(calls)})"
        assert _standing(world, marketplace) == listings, where
        assert job.status == "completed", f"{where}: {job.last_error}"
        assert _all_ended(world, job), where
        assert _record(world, job, marketplace) is state, where


ACTIONS = pytest.mark.parametrize(
    ("action", "marketplace"),
    [
        *(
            pytest.param(*each, marks=() if each == ("publish", "ebay") else pytest.mark.heavy)
            for each in itertools.product(COMMON, ("ebay", "etsy"))
        ),
        pytest.param("reprice", "ebay", marks=pytest.mark.heavy),
    ],
)


# covers B-04
@ACTIONS
def test_a_crash_at_any_call_of_the_marketplace_leaves_one_listing(
    action: str, marketplace: str
) -> None:
    _prove(None, action, marketplace, every=1)


@pytest.mark.heavy
@pytest.mark.proof
@ACTIONS
def test_a_crash_while_every_message_comes_twice_leaves_one_listing(
    action: str, marketplace: str
) -> None:
    _prove(None, action, marketplace, every=1, deliveries=2)


@pytest.mark.heavy
@pytest.mark.moto
@pytest.mark.timeout(1800)
@ACTIONS
def test_a_crash_at_any_call_leaves_one_listing(
    action: str, marketplace: str, moto_tables: Tables
) -> None:
    _prove(moto_tables, action, marketplace, every=STEP)


@pytest.mark.heavy
@pytest.mark.moto
@pytest.mark.timeout(1800)
@ACTIONS
def test_a_crash_at_any_call_while_every_message_comes_twice_leaves_one_listing(
    action: str, marketplace: str, moto_tables: Tables
) -> None:
    _prove(moto_tables, action, marketplace, every=4 * STEP, deliveries=2)


def _prove_plugin(tables: Tables | None, action: str, every: int) -> None:
    """Check that a crash leaves one listing on Vinted, or a job that needs the seller's decision.

    The plug-in remembers its tasks, so that most crashes are harmless.
    """
    make, listings, _ = STORIES[action]
    story = doubled(make("vinted"))
    calls = calls_of(tables, story)
    for at, death in _deaths(f"{action} vinted", calls, every):
        world, job = crashed(tables, story, at, death)
        where = f"{action} vinted: {death} {calls[at - 1]} ({at} of {len(calls)})"
        if job.last_error is not None and job.last_error.code == "MAX_RETRIES_EXCEEDED":
            # The browser was lost during a task that is safe to repeat: the seller retries the job.
            world.publishing.move(world.tenant, job.id, Transition.RETRY)
            job = world.finish(job.ref)
            assert job.status == "completed", where
        if job.status == "completed":
            assert _standing(world, "vinted") == listings, where
        else:
            assert job.last_error is not None
            assert job.last_error.code == "NEEDS_INPUT", f"{where}: {job.last_error}"
            assert _standing(world, "vinted") <= 1, where


@pytest.mark.parametrize("action", sampled([*COMMON, "republish"]))
@pytest.mark.heavy
def test_a_crash_at_any_task_of_the_plug_in_lists_nothing_twice(action: str) -> None:
    _prove_plugin(None, action, every=1)


def _prove_batch(tables: Tables | None, every: int) -> None:
    calls = calls_of(tables, batch)
    for at, death in _deaths("batch", calls, every):
        world, job = crashed(tables, batch, at, death)
        where = f"{death} {calls[at - 1]} ({at} of {len(calls)})"
        assert (job.status, len(world.ebay.listings)) == ("completed", 2), where
        assert job.result is not None
        assert job.result["completed_count"] == job.result["total_count"] == 2, where
        children = world.store.children(job.ref, list(JobStatus), None, 10).items
        assert all(_all_ended(world, world.job(ref)) for ref in children), where


@pytest.mark.heavy
def test_a_crash_at_any_call_of_the_marketplace_lists_each_product_of_a_batch_once() -> None:
    _prove_batch(None, every=1)


@pytest.mark.heavy
@pytest.mark.moto
@pytest.mark.timeout(1800)
def test_a_crash_at_any_call_of_a_batch_lists_each_product_once(moto_tables: Tables) -> None:
    _prove_batch(moto_tables, every=3 * STEP)


@pytest.mark.heavy
@pytest.mark.moto
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("action", COMMON)
def test_a_crash_at_any_call_of_the_plug_in_lists_nothing_twice(
    action: str, moto_tables: Tables
) -> None:
    _prove_plugin(moto_tables, action, every=STEP)

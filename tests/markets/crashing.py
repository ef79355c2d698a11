"""Crashes of a process at each of its calls of AWS and of the marketplaces.

The state machine retries the step, unless its execution is lost too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from spinneret.jobs.models import Job, JobRef
from tests.contract.backends import Tables
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.markets.stores import in_memory
from tests.markets.tables import empty
from tests.markets.world import MarketWorld

Story = Callable[[MarketWorld], JobRef]
"""Function that prepares a seller's world and submits the action that will be crashed."""


@dataclass(frozen=True)
class Death:
    """When a process ends, and whether the execution that invoked it is lost, too."""

    moment: Moment
    of_execution: bool = False


DEATHS = (Death(Moment.BEFORE), Death(Moment.AFTER), Death(Moment.AFTER, of_execution=True))


def fresh(tables: Tables | None) -> MarketWorld:
    """Return a new world on empty tables; in memory if there are none."""
    if tables is None:
        world = MarketWorld(in_memory())
    else:
        empty()
        world = MarketWorld(tables)
    world.connect("ebay")
    world.connect("etsy")
    world.plugin.open()
    return world


@contextmanager
def watched(world: MarketWorld, tables: Tables | None, plan: CrashPlan) -> Iterator[None]:
    """Count the calls of marketplaces and of DynamoDB, if used; one of them ends the process."""
    here = {"crashes": False}

    def before(model: Any, **_: Any) -> None:
        plan.calls.append(f"dynamodb.{model.name}")
        here["crashes"] = len(plan.calls) == plan._at
        if here["crashes"] and plan._moment is Moment.BEFORE:
            raise Crash(model.name)

    def after(model: Any, **_: Any) -> None:
        if here["crashes"]:
            here["crashes"] = False
            raise Crash(model.name)

    def around(name: str, serve: Callable[[], Any]) -> Any:
        return plan.call(f"market {name}", serve)

    events = tables.client.meta.events if tables is not None else None
    if events is not None:
        events.register("before-call.dynamodb", before)
        events.register("after-call.dynamodb", after)
    world.web.around = around
    original = world.plugin.post
    world.plugin.post = lambda *given: plan.call("plugin.post", original, *given)  # type: ignore[method-assign]
    try:
        yield
    finally:
        if events is not None:
            events.unregister("before-call.dynamodb", before)
            events.unregister("after-call.dynamodb", after)
        world.web.around = lambda _, serve: serve()
        world.plugin.post = original  # type: ignore[method-assign]


def calls_of(tables: Tables | None, story: Story, deliveries: int = 1) -> list[str]:
    """Return the calls of one run without a crash."""
    world = fresh(tables)
    world.deliveries = deliveries
    ref = story(world)
    plan = CrashPlan()
    with watched(world, tables, plan):
        world.finish(ref)
    return plan.calls


def crashed(
    tables: Tables | None, story: Story, at: int, death: Death, deliveries: int = 1
) -> tuple[MarketWorld, Job]:
    """Return the world after a crash at one call, and the job, which other processes have finished.

    Each message is delivered `deliveries` times.
    """
    moment, world = death.moment, fresh(tables)
    world.deliveries = deliveries
    world.machine.dies_with_functions = death.of_execution
    ref = story(world)
    plan = CrashPlan(at, moment)
    with watched(world, tables, plan):
        try:
            world.finish(ref)
        except Crash:
            world.clock.advance(1)
    assert plan.crashed, f"{at} isn't reached"
    return world, world.finish(ref)

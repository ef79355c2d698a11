"""Ends a process at each of its calls to the outside: of AWS and of the marketplaces.

The state machine tries the step again, unless it is lost itself.
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
"""Prepares a seller's world and asks for the action that is to be crashed."""


@dataclass(frozen=True)
class Death:
    """How a process ends, and whether the execution that called it is lost with it."""

    moment: Moment
    of_execution: bool = False


DEATHS = (Death(Moment.BEFORE), Death(Moment.AFTER), Death(Moment.AFTER, of_execution=True))


def fresh(tables: Tables | None) -> MarketWorld:
    """A world of its own: on empty tables, or without tables in memory."""
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
    """Every call of a marketplace counts, and of DynamoDB if there is one: one of them ends the
    process."""
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
    """The calls of one run without a crash."""
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
    """The world after a crash at one call, once others have finished the work. Each message comes
    `deliveries` times."""
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

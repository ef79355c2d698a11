"""Products that the seller changes while a job publishes them."""

from collections.abc import Callable

from tests.markets.web import StubResponse
from tests.markets.world import IMAGES, MarketWorld


def test_a_plan_that_becomes_shorter_keeps_none_of_its_former_steps(world: MarketWorld) -> None:
    product = world.product()
    world.web.instead[4] = StubResponse(503)  # creation of the draft, after shop, profiles, states
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    planned = len(world.statuses(ref))
    world.edit(product, images=IMAGES[:1])
    assert world.finish(ref).status == "completed"
    assert world.statuses(ref) == ["success"] * (planned - 1)


def test_what_changes_after_it_was_sent_is_sent_again(world: MarketWorld) -> None:
    product = world.product()

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PATCH"):  # the draft exists, with the former title
            world.web.around = lambda _, serve: serve()
            world.edit(product, title="Warm coat", price=7000)
        return serve()

    world.web.around = around
    assert world.done("publish", "etsy", product).status == "completed"
    [listing] = world.etsy.listings.values()
    assert (listing["title"], listing["price"]["amount"]) == ("Warm coat", 7000)

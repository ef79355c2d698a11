"""Products that the seller changes while a job sends them."""

from collections.abc import Callable

from tests.markets.bench import IMAGES, Bench
from tests.markets.web import StubResponse


def test_a_plan_that_becomes_shorter_keeps_none_of_its_former_steps(bench: Bench) -> None:
    product = bench.product()
    bench.web.instead[4] = StubResponse(503)  # shop, profiles, states, draft
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    planned = len(bench.statuses(ref))
    bench.edit(product, images=IMAGES[:1])
    assert bench.finish(ref).status == "completed"
    assert bench.statuses(ref) == ["success"] * (planned - 1)


def test_what_changes_after_it_was_sent_is_sent_again(bench: Bench) -> None:
    product = bench.product()

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PATCH"):  # the draft has the former title
            bench.web.around = lambda _, serve: serve()
            bench.edit(product, title="Warm coat", price=7000)
        return serve()

    bench.web.around = around
    assert bench.done("publish", "etsy", product).status == "completed"
    [listing] = bench.etsy.listings.values()
    assert (listing["title"], listing["price"]["amount"]) == ("Warm coat", 7000)

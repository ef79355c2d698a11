"""Publishing, updating and ending on eBay."""

from __future__ import annotations

from tests.markets.bench import Bench


def test_a_product_is_listed_step_by_step(bench: Bench) -> None:
    product = bench.product()
    ref = bench.submit("publish", "ebay", product)
    job = bench.finish(ref)
    assert job.status == "completed", job.last_error
    [listing] = bench.ebay.live(product.sku)
    assert job.result is not None
    assert job.result["ebay_id"] == listing
    assert job.result["url"] == f"https://www.ebay.de/itm/{listing}"
    assert set(bench.statuses(ref)) == {"success"}
    record = bench.listings.get(bench.tenant, product.id, "ebay")
    assert record is not None
    assert (record.state, record.external_id) == ("active", listing)

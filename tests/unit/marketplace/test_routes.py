"""The routes of products, jobs and batches."""

from types import SimpleNamespace
from typing import Any

import pytest

from marketplace.batches_routes import router as batches
from marketplace.marketplace_routes import router as jobs
from marketplace.products_examples import PRODUCT
from marketplace.products_routes import router as products
from spinneret.kernel.paging import cursor_of
from tests.markets.world import MarketWorld
from tests.unit.served import Served

[EXAMPLE] = PRODUCT.values()
WANTED = EXAMPLE["request"]


@pytest.fixture
def services(world: MarketWorld) -> Any:
    return SimpleNamespace(
        products=world.cataloguing,
        publishing=world.publishing,
        listings=world.listings,
        orders=world.book,
        statistics=world.statistics,
    )


# covers B-01
def test_a_product_is_made_read_replaced_and_deleted(services: Any) -> None:
    api = Served(products, services)
    made = api.send("POST", "/api/products", WANTED)
    assert made.status == 201
    assert made.body["price"] == 8900
    path = f"/api/products/{made.body['product_id']}"
    assert api.send("GET", path).body == made.body
    changed = api.send("PUT", path, {**WANTED, "price": 9000})
    assert (changed.body["price"], changed.body["sku"]) == (9000, made.body["sku"])
    assert [each["price"] for each in api.send("GET", "/api/products").body["items"]] == [9000]
    assert api.send("DELETE", path).status == 204
    assert api.send("GET", path).status == 404


# covers B-01
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"price": 19.99}, "price"),
        ({"price": 0}, "price"),
        ({"title": " "}, "title"),
        ({"images": ["ftp://x"]}, "images.0"),
        ({"currency": "XXX"}, "currency"),
        ({"attributes": {"condition": "odd"}}, "attributes.condition"),
        ({"overrides": {"amazon": {}}}, "overrides.amazon"),
        ({"variations": [{"size": "M"}]}, "variations"),
        ({"attributes": {"variants": "S, M"}}, "attributes.variants"),
        (
            {"overrides": {"ebay": {"attributes": {"color": "odd"}}}},
            "overrides.ebay.attributes.color",
        ),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], field: str, services: Any) -> None:
    refused = Served(products, services).send("POST", "/api/products", {**WANTED, **changes})
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == [field]


def test_a_sku_is_the_tenants_only_one(services: Any) -> None:
    api = Served(products, services)
    assert api.send("POST", "/api/products", {**WANTED, "sku": "coat-1"}).status == 201
    again = api.send("POST", "/api/products", {**WANTED, "sku": "coat-1"})
    assert again.status == 409
    assert [each["path"] for each in again.body["details"]["fields"]] == ["sku"]
    assert (
        api.send("POST", "/api/products", {**WANTED, "sku": "coat-1"}, tenant="other").status == 201
    )


# covers B-01
def test_vocabularies_are_listed(services: Any) -> None:
    api = Served(products, services)
    found = api.send("GET", "/api/product-attributes/conditions").body
    assert {"value": "good", "label": "Good"} in found["items"]
    assert api.send("GET", "/api/product-attributes/moods").status == 404


def test_a_listed_product_stays_and_a_deleted_one_leaves_its_job(
    services: Any, world: MarketWorld
) -> None:
    product = world.product()
    job = world.done("publish", "ebay", product)
    api = Served(products, services)
    path = f"/api/products/{product.id}"
    refused = api.send("DELETE", path, tenant=world.tenant)
    assert (refused.status, refused.body["details"]) == (409, {"marketplaces": ["ebay"]})
    world.done("delete", "ebay", product)
    task = world.tasks.of_job(world.tenant, job.id)[0]
    assert api.send("DELETE", path).status == 204
    shown = Served(jobs, services).send("GET", f"/api/marketplace/jobs/{job.id}").body
    assert (shown["product_id"], shown["tasks"]) == (None, [])
    assert Served(jobs, services).send("GET", f"/api/marketplace/tasks/{task.id}").status == 404


# covers B-05, B-08
def test_a_job_is_submitted_listed_and_moved(services: Any, world: MarketWorld) -> None:
    api, product = Served(jobs, services), world.product()
    wanted = {"marketplace": "ebay", "action_code": "delete", "product_id": product.id}
    made = api.send("POST", "/api/marketplace/jobs", wanted)
    assert (made.status, made.body["priority"], made.body["max_retries"]) == (201, 2, 1)
    path = f"/api/marketplace/jobs/{made.body['job_id']}"
    assert api.send("POST", f"{path}/retry").status == 409
    assert api.send("POST", f"{path}/pause").body["status"] == "paused"
    assert api.send("POST", f"{path}/resume").body["status"] == "pending"
    assert api.send("POST", f"{path}/cancel").body["status"] == "cancelled"
    query = {"marketplace": "ebay", "status": "cancelled"}
    [found] = api.send("GET", "/api/marketplace/jobs", **query).body["items"]
    assert found["job_id"] == made.body["job_id"]
    assert api.send("GET", "/api/marketplace/jobs", marketplace="etsy").body["items"] == []
    assert api.send("GET", path, tenant="other").status == 404


# covers B-03
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"action_code": "bump"}, "action_code"),
        ({"marketplace": "amazon"}, "marketplace"),
        ({"product_id": None}, "product_id"),
        ({"priority": 5}, "priority"),
        ({"input_data": {"override_price": 29.99}}, "input_data.override_price"),
        ({"input_data": {"override_price": 10**30}}, "input_data.override_price"),
        ({"input_data": {"custom_title": " "}}, "input_data.custom_title"),
        ({"input_data": {"variations": [{"size": "M"}]}}, "input_data.variations"),
    ],
)
def test_a_job_that_cant_be_is_refused_by_field(
    changes: dict[str, Any], field: str, services: Any, world: MarketWorld
) -> None:
    wanted = {"marketplace": "ebay", "action_code": "publish", "product_id": world.product().id}
    refused = Served(jobs, services).send("POST", "/api/marketplace/jobs", {**wanted, **changes})
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == [field]


@pytest.mark.parametrize(
    ("changes", "known"),
    [({"action_code": "publish_ebay"}, "publish"), ({"marketplace": "amazon"}, "ebay")],
)
def test_an_unknown_action_is_answered_with_values_that_the_field_takes(
    changes: dict[str, str], known: str, services: Any, world: MarketWorld
) -> None:
    wanted = {"marketplace": "ebay", "action_code": "publish", "product_id": world.product().id}
    api = Served(jobs, services)
    refused = api.send("POST", "/api/marketplace/jobs", wanted | changes)
    [field] = refused.body["details"]["fields"]
    assert known in field["message"].removeprefix("must be one of ").split(", ")
    mended = wanted | {field["path"]: known}
    assert api.send("POST", "/api/marketplace/jobs", mended).status == 201


# covers B-08
def test_tasks_are_listed_by_job_and_status(services: Any, world: MarketWorld) -> None:
    job = world.done("publish", "ebay", world.product())
    api = Served(jobs, services)
    found = api.send("GET", "/api/marketplace/tasks", job_id=job.id, status="success").body
    assert [each["position"] for each in found["items"]] == list(range(1, 10))
    one = api.send("GET", f"/api/marketplace/tasks/{found['items'][0]['task_id']}").body
    assert one == found["items"][0]
    assert api.send("GET", "/api/marketplace/tasks").body["items"] == found["items"]


@pytest.mark.parametrize("of_one_job", [True, False])
def test_a_page_of_tasks_has_at_most_its_limit(
    of_one_job: bool, services: Any, world: MarketWorld
) -> None:
    api = Served(jobs, services)
    refs = [world.done("publish", "ebay", world.product(title)).ref for title in ("One", "Two")]
    wanted = refs[:1] if of_one_job else refs[::-1]
    query: dict[str, Any] = {"limit": "4"}
    if of_one_job:
        query["job_id"] = refs[0].job_id
    found, pages = [], 0
    while True:
        body = api.send("GET", "/api/marketplace/tasks", **query).body
        assert len(body["items"]) <= 4
        found += [each["task_id"] for each in body["items"]]
        pages += 1
        if not body["has_more"]:
            break
        query["cursor"] = body["next_cursor"]
    all_tasks = [task.id for ref in wanted for task in world.tasks.of_job(world.tenant, ref.job_id)]
    assert found == all_tasks
    assert pages >= 3
    query["cursor"] = cursor_of("job_1:x")
    assert api.send("GET", "/api/marketplace/tasks", **query).status == 422


def test_action_types_say_what_a_marketplace_has(services: Any) -> None:
    items = Served(jobs, services).send("GET", "/api/marketplace/action-types").body["items"]
    supported = {(each["code"], each["marketplace"]): each["supported"] for each in items}
    assert len(items) == 24
    assert supported["message", "ebay"]
    assert not supported["message", "etsy"]


# covers B-08
def test_a_batch_is_submitted_read_and_listed(services: Any, world: MarketWorld) -> None:
    api = Served(batches, services)
    wanted = {"marketplace": "ebay", "action_code": "sync", "product_ids": [world.product().id]}
    made = api.send("POST", "/api/batch-jobs", wanted)
    assert made.status == 201
    path = f"/api/batch-jobs/{made.body['batch_id']}"
    assert api.send("GET", path).body["total_count"] == 1
    [listed] = api.send("GET", "/api/batch-jobs", marketplace="ebay").body["items"]
    assert listed["batch_id"] == made.body["batch_id"]
    assert api.send("POST", f"{path}/retry").status == 409
    assert api.send("POST", f"{path}/cancel").body["status"] == "cancelled"
    assert api.send("GET", path, tenant="other").status == 404

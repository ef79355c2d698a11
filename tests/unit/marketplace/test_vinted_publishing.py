"""Publishing on Vinted through the browser plug-in."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Connection, Job, Transition
from spinneret.kernel.errors import NotFound
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.plugins.models import Sent
from tests.markets.plugin import FakePlugin
from tests.markets.world import IMAGES, MarketWorld


def _reason(world: MarketWorld, job: Job) -> str | None:
    return next(
        (each.reason for each in world.tasks.of_job(world.tenant, job.id) if each.error_message),
        None,
    )


def test_a_product_is_listed_in_the_browser(world: MarketWorld) -> None:
    product = world.product()
    job = world.done("publish", "vinted", product)
    assert job.status == "completed", job.last_error
    [item] = world.plugin.items
    assert job.result is not None
    assert (job.result["vinted_id"], job.result["url"]) == (item, world.plugin.items[item]["url"])
    types = {task.task_type for task in world.tasks.of_job(world.tenant, job.id)}
    assert types == {"plugin_http", "db_operation"}


def test_a_plugin_that_is_away_is_waited_for(world: MarketWorld) -> None:
    world.plugin.away = True
    ref = world.submit("publish", "vinted", world.product())
    waiting = world.once(ref)
    assert (waiting.status, waiting.waiting_for) == ("pending", "a plug-in for vinted")
    world.clock.advance(600)
    world.plugin.away = False
    world.plugin.open()
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.items) == 1


# covers B-07
def test_an_answer_that_was_lost_is_told_again_and_nothing_is_done_twice(
    world: MarketWorld,
) -> None:
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", world.product())
    for _ in range(3):
        world.clock.now = max(world.clock(), world.job(ref).due_at)
        world.once(ref)
    world.plugin.mute = False
    for key in list(world.plugin.done):
        world.plugin.repeat(key)
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.items) == 1


def test_a_browser_that_is_lost_with_the_task_leaves_the_decision_to_the_seller(
    world: MarketWorld,
) -> None:
    product = world.product()

    def lost_at_completion(task: dict[str, Any]) -> None:
        world.plugin.lost = "/completion" in task["path"]

    world.plugin.before = lost_at_completion
    job = world.done("publish", "vinted", product)
    assert (job.status, _reason(world, job)) == ("failed", "needs_input")
    assert world.plugin.items == {}
    world.plugin.before = lambda _: None
    world.plugin.lost = False
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert _reason(world, world.finish(job.ref)) == "needs_input"  # no second creation
    assert world.plugin.items == {}
    world.done("link_product", "vinted", product, external_id=None)
    assert world.done("publish", "vinted", product).status == "completed"
    assert len(world.plugin.items) == 1


def test_another_job_for_the_product_asks_for_no_second_listing(world: MarketWorld) -> None:
    product = world.product()

    def lost_at_completion(task: dict[str, Any]) -> None:
        world.plugin.lost = "/completion" in task["path"]

    world.plugin.before = lost_at_completion
    assert world.done("publish", "vinted", product).status == "failed"
    world.plugin.before = lambda _: None
    world.plugin.lost = False
    again = world.done("publish", "vinted", product)
    assert (again.status, _reason(world, again)) == ("failed", "needs_input")
    assert world.plugin.items == {}


@pytest.mark.parametrize(("status", "field"), [(403, "connection"), (422, "product")])
def test_what_the_site_refuses_is_a_failure_with_a_field(
    status: int, field: str, world: MarketWorld
) -> None:
    world.plugin.status = status
    product = world.product()
    job = world.done("publish", "vinted", product)
    assert job.last_error is not None
    assert job.last_error.details["fields"][0]["path"] == field


REFUSED: dict[str, tuple[str, str]] = {
    "title": ("title", "Vinted refuses it"),
    "item.price": ("price", "Vinted refuses it"),
    "catalog_id": ("overrides.vinted.category_id", "Vinted refuses it"),
    "status_id": ("attributes.condition", "Vinted refuses it"),
    "size_id": ("attributes.size_id", "Vinted refuses it"),
    "assigned_photos": ("images", "Vinted refuses it"),
    "isbn": ("product", "Vinted refuses its field isbn"),
}


def test_fields_that_vinted_names_are_the_products_own(world: MarketWorld) -> None:
    errors = [{"field": theirs, "value": f"about {theirs}"} for theirs in REFUSED]
    world.plugin.refusal = {"code": 99, "message": "Sorry", "errors": errors}
    world.plugin.status = 400
    job = world.done("publish", "vinted", world.product())
    assert job.last_error is not None
    found = [
        (each["message"], (each["path"], each["cause"]))
        for each in job.last_error.details["fields"]
    ]
    assert found == [(f"about {theirs}", ours) for theirs, ours in REFUSED.items()]


def test_what_vinted_refuses_to_list_is_drafted_anew_once_it_is_mended(world: MarketWorld) -> None:
    product = world.product()
    world.plugin.refused_titles = {"Wool coat", "Coat of wool"}
    for title in ("Wool coat", "Coat of wool"):
        job = world.done("publish", "vinted", world.edit(product, title=title))
        assert job.last_error is not None
        assert job.last_error.details["fields"][0]["path"] == "title"
    mended = world.edit(product, title="Wool coat, navy")
    assert world.done("publish", "vinted", mended).status == "completed"
    [item] = world.plugin.items.values()
    assert (item["title"], len(world.plugin.drafts)) == ("Wool coat, navy", 3)


@pytest.mark.parametrize("status", [401, 422, 503])
def test_what_was_refused_is_asked_for_anew_when_the_job_is_tried_again(
    status: int, world: MarketWorld
) -> None:
    world.plugin.status = status
    job = world.done("publish", "vinted", world.product())
    assert job.status == "failed"
    world.plugin.status = None  # the seller has logged in, for instance
    world.clock.advance(1)
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    assert len(world.plugin.items) == 1


def test_a_draft_that_was_refused_is_asked_for_anew(world: MarketWorld) -> None:
    product = world.product()

    def refused(task: dict[str, Any]) -> None:
        world.plugin.status = 422 if task["path"] == "/api/v2/item_upload/drafts" else None

    world.plugin.before = refused
    job = world.done("publish", "vinted", product)
    assert job.status == "failed"
    world.plugin.before, world.plugin.status = lambda _: None, None
    assert world.done("publish", "vinted", world.edit(product, price=500)).status == "completed"
    assert len(world.plugin.items) == 1


@pytest.mark.parametrize("path", ["/drafts", "/completion", "/items/"])
def test_photos_that_vinted_refuses_are_uploaded_again(path: str, world: MarketWorld) -> None:
    product, action = world.product(), "publish"
    if path == "/items/":
        world.done("publish", "vinted", product)
        product, action = world.edit(product, price=500), "update"
    world.plugin.refusal = {"errors": [{"field": "assigned_photos", "value": "blurred"}]}

    def refused(task: dict[str, Any]) -> None:
        asked = task["path"]
        world.plugin.status = 422 if asked.endswith(path) or "/items/" in asked else None

    world.plugin.before = refused
    job = world.done(action, "vinted", product)
    assert job.status == "failed"
    former = set(world.plugin.photos)
    world.plugin.before, world.plugin.status = lambda _: None, None
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    [item] = world.plugin.items.values()
    assert [world.plugin.photos[each] for each in item["photos"]] == list(IMAGES)
    assert former.isdisjoint(item["photos"])


def test_an_empty_success_is_a_failure(world: MarketWorld) -> None:
    world.plugin.empty = True
    job = world.done("publish", "vinted", world.product())
    assert job.last_error is not None
    assert job.last_error.details["fields"][0]["cause"] == "an empty answer"


ODD: dict[str, tuple[int, dict[str, Any]]] = {
    "an empty success": (200, {}),
    "a success that names nothing": (200, {"items": []}),
    "a success about something else": (200, {"message": "welcome"}),
    "an id that is null": (200, {"draft": {"id": None}, "item": {"id": None}}),
    "no content": (204, {}),
    "a redirection": (302, {"message": "log in"}),
    "a refusal without a reason": (403, {}),
    "a time-out on the way": (408, {"message": "too slow"}),
    "a browser that was stopped at it": (0, {}),
}


@pytest.mark.parametrize("path", ["drafts", "completion"])
@pytest.mark.parametrize("odd", ODD)
def test_only_a_refusal_with_a_reason_proves_that_nothing_was_made(
    odd: str, path: str, world: MarketWorld
) -> None:
    product = world.product()
    world.plugin.odd[path] = ODD[odd]
    job = world.done("publish", "vinted", product)
    assert (job.status, _reason(world, job)) == ("failed", "needs_input")
    world.plugin.odd.clear()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert _reason(world, world.finish(job.ref)) == "needs_input"
    assert _reason(world, world.done("publish", "vinted", product)) == "needs_input"
    assert len(world.plugin.drafts) == 1
    assert len(world.plugin.items) == (path == "completion")


def test_an_item_is_changed_looked_up_and_ended(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    assert world.done("update", "vinted", world.edit(product, price=500)).status == "completed"
    assert world.done("sync", "vinted", product).status == "completed"
    assert world.done("delete", "vinted", product).status == "completed"
    assert world.plugin.items == {}
    assert world.done("delete", "vinted", product).status == "completed"


def test_a_photo_is_asked_for_anew_when_its_browser_was_stopped_at_it(world: MarketWorld) -> None:
    world.plugin.odd["photos"] = (0, {})
    ref = world.submit("publish", "vinted", world.product())
    world.once(ref)
    world.plugin.odd.clear()
    assert world.finish(ref).status == "completed"


@pytest.mark.parametrize("flaw", ["away", "deaf"])
def test_a_listing_that_nobody_has_begun_is_waited_for(flaw: str, world: MarketWorld) -> None:

    def flawed_at_completion(task: dict[str, Any]) -> None:
        setattr(world.plugin, flaw, "/completion" in task["path"])

    world.plugin.before = flawed_at_completion
    ref = world.submit("publish", "vinted", world.product())
    for _ in range(20):
        assert world.once(ref).status == "pending"
        world.clock.advance(limits.PLUGIN_TASK_SECONDS / 2)
    world.plugin.before = lambda _: None
    setattr(world.plugin, flaw, False)
    world.plugin.open()
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.items) == 1


def test_a_browser_has_its_time_from_when_it_accepts(world: MarketWorld) -> None:

    def late_at_completion(task: dict[str, Any]) -> None:
        if "/completion" in task["path"]:
            world.plugin.deaf, world.plugin.mute = not world.plugin.deaf, True

    world.plugin.before = late_at_completion
    ref = world.submit("publish", "vinted", world.product())
    while not world.plugin.items:  # at first the browser doesn't accept the task
        world.once(ref)
        world.clock.advance(limits.PLUGIN_TASK_SECONDS - 10 if world.plugin.deaf else 0)
    world.clock.advance(20)
    assert world.once(ref).status == "pending"
    world.plugin.repeat(world.plugin.tasks[-1]["key"])
    assert world.finish(ref).status == "completed"


# Several browsers


@pytest.fixture
def other(world: MarketWorld) -> FakePlugin:
    """Provide a second browser of the seller, with the same Vinted account."""
    made = FakePlugin(world.inbox, world.tenant, "desktop")
    made.items, made.drafts, made.photos = (
        world.plugin.items,
        world.plugin.drafts,
        world.plugin.photos,
    )
    return made


def test_what_one_browser_has_is_done_by_no_other(world: MarketWorld, other: FakePlugin) -> None:
    first = world.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        if connection_id == other.connection.id:
            return other.post(connection_id, text)
        world.plugin.mute = "/completion" in text
        done = first(connection_id, text)
        if world.plugin.items:  # the browser listed the product, then was lost before its answer
            world.plugin.away = True
            other.open()
        return done

    world.plugin.post = lost_at_completion  # type: ignore[method-assign]
    job = world.done("publish", "vinted", world.product())
    assert (job.status, _reason(world, job)) == ("failed", "needs_input")
    assert (len(world.plugin.items), other.tasks) == (1, [])


def test_of_two_browsers_that_got_a_task_one_may_begin(
    world: MarketWorld, other: FakePlugin
) -> None:
    first = world.plugin.post

    def both(connection_id: str, text: str) -> bool:
        if connection_id == other.connection.id:
            return other.post(connection_id, text)
        if world.plugin.deaf:  # the browser has the task, but accepts it late
            world.clock.advance(1)
            other.open()
        return first(connection_id, text)

    world.plugin.post, world.plugin.deaf = both, True  # type: ignore[method-assign]
    assert world.done("publish", "vinted", world.product()).status == "completed"
    [task] = world.plugin.tasks
    late = {"key": task["key"], "browser": world.plugin.browser}
    with pytest.raises(NotFound):
        world.inbox.accepted(world.plugin.connection, late)
    assert (len(world.plugin.items), len(world.plugin.photos)) == (1, 2)


def test_a_claim_that_was_slow_forgets_no_later_round(world: MarketWorld) -> None:
    """A slow claim reads a refusal; before it repeats the request, a retry has created the item."""
    world.plugin.refused_titles = {"Wool coat"}
    ref, begin = world.submit("publish", "vinted", world.product()), world.plugins.begin_again

    def mute_at_completion(task: dict[str, Any]) -> None:
        world.plugin.mute = task["path"].endswith("/completion")

    def late(*given: Any) -> None:
        world.plugins.begin_again = begin  # type: ignore[method-assign]
        world.clock.advance(600)
        world.sweep()
        assert world.finish(ref).status == "failed"
        world.publishing.move(world.tenant, ref.job_id, Transition.RETRY)
        world.plugin.refused_titles, world.plugin.before = set(), mute_at_completion
        while not world.plugin.items:
            world.once(ref)
        begin(*given)

    world.plugins.begin_again = late  # type: ignore[method-assign]
    while world.plugins.begin_again is late:
        world.once(ref)
    world.plugin.before, world.plugin.mute = lambda _: None, False
    world.plugin.open()
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.items) == 1


# Existing listings


def test_a_listing_that_was_linked_is_taken_up_by_publishing(world: MarketWorld) -> None:
    product = world.product()
    world.plugin.items["77"] = {"id": "77", "url": "https://www.vinted.example/items/77"}
    world.done("link_product", "vinted", product, external_id="77")
    job = world.done("publish", "vinted", product)
    assert job.status == "completed", job.last_error
    assert job.result is not None
    assert job.result["vinted_id"] == "77"
    assert list(world.plugin.items) == ["77"]
    assert world.plugin.items["77"]["title"] == "Wool coat"


def test_a_listing_is_taken_up_when_the_record_of_its_making_is_purged(world: MarketWorld) -> None:
    product = world.product()
    first = world.done("publish", "vinted", product)
    listing = world.listings.get(world.tenant, product.id, "vinted")
    assert listing is not None
    # The effect record of this generation is missing, as if it had been purged.
    nameless = replace(listing, generation=9, version=listing.version + 1)
    assert world.listings.save(listing, nameless)
    again = world.done("publish", "vinted", product)
    assert first.result is not None
    assert again.result is not None
    assert again.result["vinted_id"] == first.result["vinted_id"]
    assert len(world.plugin.items) == 1
    assert len([task for task in world.plugin.tasks if "/items/" in task["path"]]) == 0


def test_a_listing_that_is_made_stands_even_if_what_follows_fails(world: MarketWorld) -> None:
    product = world.product()

    def edited_at_draft(task: dict[str, Any]) -> None:
        world.plugin.mute = task["path"].endswith("/drafts") and not world.plugin.drafts
        world.plugin.status = 422 if task["method"] == "PUT" else None

    world.plugin.before = edited_at_draft
    ref = world.submit("publish", "vinted", product)
    while not world.plugin.drafts:
        world.once(ref)
    world.edit(product, title="Wool coat, navy")
    assert world.finish(ref).status == "failed"
    listing = world.listings.get(world.tenant, product.id, "vinted")
    assert listing is not None
    assert (listing.state, [listing.external_id]) == ("active", list(world.plugin.items))
    assert listing.digest is None


@pytest.mark.parametrize(("days", "reason"), [(88, None), (89, "needs_input")])
def test_a_listing_that_was_begun_longer_ago_than_is_known_is_left_to_the_seller(
    days: int, reason: str | None, world: MarketWorld
) -> None:
    product = world.product()
    begun = Listing(
        tenant=world.tenant,
        product_id=product.id,
        marketplace="vinted",
        sku=product.sku,
        intent_at=world.clock() - timedelta(days=days),
        version=1,
    )
    assert world.listings.save(None, begun)
    assert _reason(world, world.done("publish", "vinted", product)) == reason
    assert len(world.plugin.drafts) == (reason is None)


def test_publishing_what_has_changed_since_changes_the_listing(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    world.done("publish", "vinted", world.edit(product, title="Wool coat, navy"))
    [item] = world.plugin.items.values()
    assert item["title"] == "Wool coat, navy"


def test_what_changes_while_a_listing_is_made_is_brought_up_to_date(world: MarketWorld) -> None:
    product = world.product()

    def mute_at_draft(task: dict[str, Any]) -> None:
        world.plugin.mute = task["path"] == "/api/v2/item_upload/drafts"

    world.plugin.before = mute_at_draft
    ref = world.submit("publish", "vinted", product)
    while not world.plugin.drafts:
        world.once(ref)
    world.publishing.move(world.tenant, ref.job_id, Transition.CANCEL)
    world.plugin.before, world.plugin.mute = lambda _: None, False
    edited = world.edit(product, title="Wool coat, navy")
    assert world.done("publish", "vinted", edited).status == "completed"
    [item] = world.plugin.items.values()
    assert (item["title"], len(world.plugin.drafts)) == ("Wool coat, navy", 1)


def test_a_draft_is_not_completed_for_another_listing_than_its_own(world: MarketWorld) -> None:
    product = world.product()
    original = world.plugins.sent

    def given_up_at_its_answer(tenant: str, key: str) -> Sent | None:
        found = original(tenant, key)
        listing = world.listings.get(tenant, product.id, "vinted")
        claimed = world.job(ref).status == "running"
        if claimed and found and found.answer and "draft" in found.answer.body and listing:
            after = replace(listing, generation=2, version=listing.version + 1)
            assert world.listings.save(listing, after)
            world.plugins.sent = original  # type: ignore[method-assign]
        return found

    world.plugins.sent = given_up_at_its_answer  # type: ignore[method-assign]
    ref = world.submit("publish", "vinted", product)
    job = world.finish(ref)
    assert job.last_error is not None
    assert (job.last_error.code, world.plugin.items) == ("CONFLICT", {})


def test_an_update_sends_new_photos_in_the_products_order(world: MarketWorld) -> None:
    front, _ = IMAGES
    product = world.product()
    world.done("publish", "vinted", product)
    new = "https://images.example/label.jpg"
    edited = world.edit(product, images=(new, front))
    assert world.done("update", "vinted", edited).status == "completed"
    [item] = world.plugin.items.values()
    assert [world.plugin.photos[each] for each in item["photos"]] == [new, front]
    listing = world.listings.get(world.tenant, product.id, "vinted")
    assert listing is not None
    assert set(listing.images) == {new, front}
    assert list(world.plugin.photos.values()).count(front) == 1


# Results of look-ups


@pytest.mark.parametrize("odd", [(200, {"message": "hello"}), (200, {}), (403, {}), (0, {})])
def test_a_look_up_that_says_nothing_of_the_item_changes_nothing(
    odd: tuple[int, dict[str, Any]], world: MarketWorld
) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    before = world.listings.get(world.tenant, product.id, "vinted")
    [item] = world.plugin.items
    world.plugin.odd[item] = odd
    job = world.done("sync", "vinted", product)
    assert job.status == "failed"
    assert world.listings.get(world.tenant, product.id, "vinted") == before
    world.plugin.odd.clear()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"


def test_an_update_that_is_answered_without_the_item_has_failed(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    [item] = world.plugin.items
    world.plugin.odd[item] = 200, {"message": "hello"}
    assert world.done("update", "vinted", world.edit(product, price=500)).status == "failed"


@pytest.mark.parametrize("status", [404, 410])
def test_an_item_that_is_gone_there_has_ended(status: int, world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    [item] = world.plugin.items
    world.plugin.odd[item] = status, {}
    assert world.done("sync", "vinted", product).status == "completed"
    listing = world.listings.get(world.tenant, product.id, "vinted")
    assert listing is not None
    assert (listing.state, listing.generation) == ("ended", 2)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("odd", [(200, {}), (204, {}), (200, {"message": "welcome"})])
def test_a_deletion_counts_once_the_item_is_gone(
    odd: tuple[int, dict[str, Any]], done: bool, world: MarketWorld
) -> None:
    product = world.product()
    world.done("publish", "vinted", product)
    original = world.plugin.post

    def odd_deletion(connection_id: str, text: str) -> bool:
        task = json.loads(text)
        item = task["path"].rpartition("/")[2]
        world.plugin.odd = {item: odd} if task["method"] == "DELETE" else {}
        kept = dict(world.plugin.items)
        answered = original(connection_id, text)
        if not done:
            world.plugin.items = kept
        return answered

    world.plugin.post = odd_deletion  # type: ignore[method-assign]
    job = world.done("delete", "vinted", product)
    listing = world.listings.get(world.tenant, product.id, "vinted")
    assert listing is not None
    if done:
        assert (job.status, listing.state, listing.generation) == ("completed", "ended", 2)
        return
    assert (job.status, listing.state, listing.generation) == ("failed", "active", 1)
    world.plugin.post, world.plugin.odd = original, {}  # type: ignore[method-assign]
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert (world.finish(job.ref).status, world.plugin.items) == ("completed", {})


def test_orders_are_unsupported(world: MarketWorld) -> None:
    job = world.done("orders", "vinted")
    assert _reason(world, job) == "unsupported"


def test_a_ticket_brings_the_tasks_of_its_job_alone(world: MarketWorld) -> None:
    first = world.submit("publish", "vinted", world.product())
    second = world.submit("publish", "vinted", world.product("Other"))
    world.plugin.connection = replace(world.plugin.connection, only_job=second.job_id)
    world.plugin.open()
    world.queue.take()
    assert world.once(first).waiting_for == "a plug-in for vinted"
    world.dispatch(second)
    world.execute()
    assert world.job(second).status == "completed"


def test_an_answer_counts_from_where_its_task_went(world: MarketWorld) -> None:
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", world.product())
    world.once(ref)
    [key] = world.plugin.done
    stranger = Connection(id="browser-2", tenant=world.tenant, key_id="key_1")
    with pytest.raises(NotFound):
        world.inbox.answered(stranger, {"key": key, "status": 200, "body": {"id": "x"}})

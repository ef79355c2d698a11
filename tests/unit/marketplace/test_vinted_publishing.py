"""Publishing on Vinted by way of the plug-in."""

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
from tests.markets.bench import IMAGES, Bench
from tests.markets.plugin import FakePlugin


def _reason(bench: Bench, job: Job) -> str | None:
    return next(
        (each.reason for each in bench.tasks.of_job(bench.tenant, job.id) if each.error_message),
        None,
    )


def test_a_product_is_listed_in_the_browser(bench: Bench) -> None:
    product = bench.product()
    job = bench.done("publish", "vinted", product)
    assert job.status == "completed", job.last_error
    [item] = bench.plugin.items
    assert job.result is not None
    assert (job.result["vinted_id"], job.result["url"]) == (item, bench.plugin.items[item]["url"])
    types = {task.task_type for task in bench.tasks.of_job(bench.tenant, job.id)}
    assert types == {"plugin_http", "db_operation"}


def test_a_plugin_that_is_away_is_waited_for(bench: Bench) -> None:
    bench.plugin.away = True
    ref = bench.submit("publish", "vinted", bench.product())
    waiting = bench.once(ref)
    assert (waiting.status, waiting.waiting_for) == ("pending", "a plug-in for vinted")
    bench.clock.advance(600)
    bench.plugin.away = False
    bench.plugin.open()
    assert bench.finish(ref).status == "completed"
    assert len(bench.plugin.items) == 1


# covers B-07
def test_an_answer_that_was_lost_is_told_again_and_nothing_is_done_twice(bench: Bench) -> None:
    bench.plugin.mute = True
    ref = bench.submit("publish", "vinted", bench.product())
    for _ in range(3):
        bench.clock.now = max(bench.clock(), bench.job(ref).due_at)
        bench.once(ref)
    bench.plugin.mute = False
    for key in list(bench.plugin.done):
        bench.plugin.repeat(key)
    assert bench.finish(ref).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_browser_that_is_lost_with_the_task_leaves_the_decision_to_the_seller(
    bench: Bench,
) -> None:
    product = bench.product()

    def lost_at_completion(task: dict[str, Any]) -> None:
        bench.plugin.lost = "/completion" in task["path"]

    bench.plugin.before = lost_at_completion
    job = bench.done("publish", "vinted", product)
    assert (job.status, _reason(bench, job)) == ("failed", "needs_input")
    assert bench.plugin.items == {}
    bench.plugin.before = lambda _: None
    bench.plugin.lost = False
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert _reason(bench, bench.finish(job.ref)) == "needs_input"  # never a second create
    assert bench.plugin.items == {}
    bench.done("link_product", "vinted", product, external_id=None)
    assert bench.done("publish", "vinted", product).status == "completed"
    assert len(bench.plugin.items) == 1


def test_another_job_for_the_product_asks_for_no_second_listing(bench: Bench) -> None:
    product = bench.product()

    def lost_at_completion(task: dict[str, Any]) -> None:
        bench.plugin.lost = "/completion" in task["path"]

    bench.plugin.before = lost_at_completion
    assert bench.done("publish", "vinted", product).status == "failed"
    bench.plugin.before = lambda _: None
    bench.plugin.lost = False
    again = bench.done("publish", "vinted", product)
    assert (again.status, _reason(bench, again)) == ("failed", "needs_input")
    assert bench.plugin.items == {}


@pytest.mark.parametrize(("status", "field"), [(403, "connection"), (422, "product")])
def test_what_the_site_refuses_is_a_failure_with_a_field(
    status: int, field: str, bench: Bench
) -> None:
    bench.plugin.status = status
    product = bench.product()
    job = bench.done("publish", "vinted", product)
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


def test_fields_that_vinted_names_are_the_products_own(bench: Bench) -> None:
    errors = [{"field": theirs, "value": f"about {theirs}"} for theirs in REFUSED]
    bench.plugin.refusal = {"code": 99, "message": "Sorry", "errors": errors}
    bench.plugin.status = 400
    job = bench.done("publish", "vinted", bench.product())
    assert job.last_error is not None
    found = [
        (each["message"], (each["path"], each["cause"]))
        for each in job.last_error.details["fields"]
    ]
    assert found == [(f"about {theirs}", ours) for theirs, ours in REFUSED.items()]


def test_what_vinted_refuses_to_list_is_drafted_anew_once_it_is_mended(bench: Bench) -> None:
    product = bench.product()
    bench.plugin.refused_titles = {"Wool coat", "Coat of wool"}
    for title in ("Wool coat", "Coat of wool"):
        job = bench.done("publish", "vinted", bench.edit(product, title=title))
        assert job.last_error is not None
        assert job.last_error.details["fields"][0]["path"] == "title"
    mended = bench.edit(product, title="Wool coat, navy")
    assert bench.done("publish", "vinted", mended).status == "completed"
    [item] = bench.plugin.items.values()
    assert (item["title"], len(bench.plugin.drafts)) == ("Wool coat, navy", 3)


@pytest.mark.parametrize("status", [401, 422, 503])
def test_what_was_refused_is_asked_for_anew_when_the_job_is_tried_again(
    status: int, bench: Bench
) -> None:
    bench.plugin.status = status
    job = bench.done("publish", "vinted", bench.product())
    assert job.status == "failed"
    bench.plugin.status = None  # the seller has logged in, for instance
    bench.clock.advance(1)
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_draft_that_was_refused_is_asked_for_anew(bench: Bench) -> None:
    product = bench.product()

    def refused(task: dict[str, Any]) -> None:
        bench.plugin.status = 422 if task["path"] == "/api/v2/item_upload/drafts" else None

    bench.plugin.before = refused
    job = bench.done("publish", "vinted", product)
    assert job.status == "failed"
    bench.plugin.before, bench.plugin.status = lambda _: None, None
    assert bench.done("publish", "vinted", bench.edit(product, price=500)).status == "completed"
    assert len(bench.plugin.items) == 1


@pytest.mark.parametrize("path", ["/drafts", "/completion", "/items/"])
def test_photos_that_vinted_refuses_are_uploaded_again(path: str, bench: Bench) -> None:
    product, action = bench.product(), "publish"
    if path == "/items/":
        bench.done("publish", "vinted", product)
        product, action = bench.edit(product, price=500), "update"
    bench.plugin.refusal = {"errors": [{"field": "assigned_photos", "value": "blurred"}]}

    def refused(task: dict[str, Any]) -> None:
        asked = task["path"]
        bench.plugin.status = 422 if asked.endswith(path) or "/items/" in asked else None

    bench.plugin.before = refused
    job = bench.done(action, "vinted", product)
    assert job.status == "failed"
    former = set(bench.plugin.photos)
    bench.plugin.before, bench.plugin.status = lambda _: None, None
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"
    [item] = bench.plugin.items.values()
    assert [bench.plugin.photos[each] for each in item["photos"]] == list(IMAGES)
    assert former.isdisjoint(item["photos"])


def test_an_empty_success_is_a_failure(bench: Bench) -> None:
    bench.plugin.empty = True
    job = bench.done("publish", "vinted", bench.product())
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
    odd: str, path: str, bench: Bench
) -> None:
    product = bench.product()
    bench.plugin.odd[path] = ODD[odd]
    job = bench.done("publish", "vinted", product)
    assert (job.status, _reason(bench, job)) == ("failed", "needs_input")
    bench.plugin.odd.clear()
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert _reason(bench, bench.finish(job.ref)) == "needs_input"
    assert _reason(bench, bench.done("publish", "vinted", product)) == "needs_input"
    assert len(bench.plugin.drafts) == 1
    assert len(bench.plugin.items) == (path == "completion")


def test_an_item_is_changed_looked_up_and_ended(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    assert bench.done("update", "vinted", bench.edit(product, price=500)).status == "completed"
    assert bench.done("sync", "vinted", product).status == "completed"
    assert bench.done("delete", "vinted", product).status == "completed"
    assert bench.plugin.items == {}
    assert bench.done("delete", "vinted", product).status == "completed"


def test_a_photo_is_asked_for_anew_when_its_browser_was_stopped_at_it(bench: Bench) -> None:
    bench.plugin.odd["photos"] = (0, {})
    ref = bench.submit("publish", "vinted", bench.product())
    bench.once(ref)
    bench.plugin.odd.clear()
    assert bench.finish(ref).status == "completed"


@pytest.mark.parametrize("flaw", ["away", "deaf"])
def test_a_listing_that_nobody_has_begun_is_waited_for(flaw: str, bench: Bench) -> None:

    def flawed_at_completion(task: dict[str, Any]) -> None:
        setattr(bench.plugin, flaw, "/completion" in task["path"])

    bench.plugin.before = flawed_at_completion
    ref = bench.submit("publish", "vinted", bench.product())
    for _ in range(20):
        assert bench.once(ref).status == "pending"
        bench.clock.advance(limits.PLUGIN_TASK_SECONDS / 2)
    bench.plugin.before = lambda _: None
    setattr(bench.plugin, flaw, False)
    bench.plugin.open()
    assert bench.finish(ref).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_browser_has_its_time_from_when_it_accepts(bench: Bench) -> None:

    def late_at_completion(task: dict[str, Any]) -> None:
        if "/completion" in task["path"]:
            bench.plugin.deaf, bench.plugin.mute = not bench.plugin.deaf, True

    bench.plugin.before = late_at_completion
    ref = bench.submit("publish", "vinted", bench.product())
    while not bench.plugin.items:  # nobody hears it at first
        bench.once(ref)
        bench.clock.advance(limits.PLUGIN_TASK_SECONDS - 10 if bench.plugin.deaf else 0)
    bench.clock.advance(20)
    assert bench.once(ref).status == "pending"
    bench.plugin.repeat(bench.plugin.tasks[-1]["key"])
    assert bench.finish(ref).status == "completed"


# Several browsers


@pytest.fixture
def other(bench: Bench) -> FakePlugin:
    """Another browser of the seller, with the same Vinted behind it."""
    made = FakePlugin(bench.inbox, bench.tenant, "desktop")
    made.items, made.drafts, made.photos = (
        bench.plugin.items,
        bench.plugin.drafts,
        bench.plugin.photos,
    )
    return made


def test_what_one_browser_has_is_done_by_no_other(bench: Bench, other: FakePlugin) -> None:
    first = bench.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        if connection_id == other.connection.id:
            return other.post(connection_id, text)
        bench.plugin.mute = "/completion" in text
        done = first(connection_id, text)
        if bench.plugin.items:  # it has listed the product, and its answer is lost with it
            bench.plugin.away = True
            other.open()
        return done

    bench.plugin.post = lost_at_completion  # type: ignore[method-assign]
    job = bench.done("publish", "vinted", bench.product())
    assert (job.status, _reason(bench, job)) == ("failed", "needs_input")
    assert (len(bench.plugin.items), other.tasks) == (1, [])


def test_of_two_browsers_that_got_a_task_one_may_begin(bench: Bench, other: FakePlugin) -> None:
    first = bench.plugin.post

    def both(connection_id: str, text: str) -> bool:
        if connection_id == other.connection.id:
            return other.post(connection_id, text)
        if bench.plugin.deaf:  # it has the task, and is slow to say so
            bench.clock.advance(1)
            other.open()
        return first(connection_id, text)

    bench.plugin.post, bench.plugin.deaf = both, True  # type: ignore[method-assign]
    assert bench.done("publish", "vinted", bench.product()).status == "completed"
    [task] = bench.plugin.tasks
    late = {"key": task["key"], "browser": bench.plugin.browser}
    with pytest.raises(NotFound):
        bench.inbox.accepted(bench.plugin.connection, late)
    assert (len(bench.plugin.items), len(bench.plugin.photos)) == (1, 2)


def test_a_claim_that_was_slow_forgets_no_later_round(bench: Bench) -> None:
    """It has read a refusal; before it begins the request again, a retry has, and its browser has
    made the item."""
    bench.plugin.refused_titles = {"Wool coat"}
    ref, begin = bench.submit("publish", "vinted", bench.product()), bench.plugins.begin_again

    def mute_at_completion(task: dict[str, Any]) -> None:
        bench.plugin.mute = task["path"].endswith("/completion")

    def late(*given: Any) -> None:
        bench.plugins.begin_again = begin  # type: ignore[method-assign]
        bench.clock.advance(600)
        bench.sweep()
        assert bench.finish(ref).status == "failed"
        bench.publishing.move(bench.tenant, ref.job_id, Transition.RETRY)
        bench.plugin.refused_titles, bench.plugin.before = set(), mute_at_completion
        while not bench.plugin.items:
            bench.once(ref)
        begin(*given)

    bench.plugins.begin_again = late  # type: ignore[method-assign]
    while bench.plugins.begin_again is late:
        bench.once(ref)
    bench.plugin.before, bench.plugin.mute = lambda _: None, False
    bench.plugin.open()
    assert bench.finish(ref).status == "completed"
    assert len(bench.plugin.items) == 1


# What stands already


def test_a_listing_that_was_linked_is_taken_up_by_publishing(bench: Bench) -> None:
    product = bench.product()
    bench.plugin.items["77"] = {"id": "77", "url": "https://www.vinted.example/items/77"}
    bench.done("link_product", "vinted", product, external_id="77")
    job = bench.done("publish", "vinted", product)
    assert job.status == "completed", job.last_error
    assert job.result is not None
    assert job.result["vinted_id"] == "77"
    assert list(bench.plugin.items) == ["77"]
    assert bench.plugin.items["77"]["title"] == "Wool coat"


def test_a_listing_is_taken_up_when_the_record_of_its_making_is_purged(bench: Bench) -> None:
    product = bench.product()
    first = bench.done("publish", "vinted", product)
    listing = bench.listings.get(bench.tenant, product.id, "vinted")
    assert listing is not None
    # Of the ninth there is no record, as of the first once it is purged.
    nameless = replace(listing, generation=9, version=listing.version + 1)
    assert bench.listings.save(listing, nameless)
    again = bench.done("publish", "vinted", product)
    assert first.result is not None
    assert again.result is not None
    assert again.result["vinted_id"] == first.result["vinted_id"]
    assert len(bench.plugin.items) == 1
    assert len([task for task in bench.plugin.tasks if "/items/" in task["path"]]) == 0


def test_a_listing_that_is_made_stands_even_if_what_follows_fails(bench: Bench) -> None:
    product = bench.product()

    def edited_at_draft(task: dict[str, Any]) -> None:
        bench.plugin.mute = task["path"].endswith("/drafts") and not bench.plugin.drafts
        bench.plugin.status = 422 if task["method"] == "PUT" else None

    bench.plugin.before = edited_at_draft
    ref = bench.submit("publish", "vinted", product)
    while not bench.plugin.drafts:
        bench.once(ref)
    bench.edit(product, title="Wool coat, navy")
    assert bench.finish(ref).status == "failed"
    listing = bench.listings.get(bench.tenant, product.id, "vinted")
    assert listing is not None
    assert (listing.state, [listing.external_id]) == ("active", list(bench.plugin.items))
    assert listing.digest is None


@pytest.mark.parametrize(("days", "reason"), [(88, None), (89, "needs_input")])
def test_a_listing_that_was_begun_longer_ago_than_is_known_is_left_to_the_seller(
    days: int, reason: str | None, bench: Bench
) -> None:
    product = bench.product()
    begun = Listing(
        tenant=bench.tenant,
        product_id=product.id,
        marketplace="vinted",
        sku=product.sku,
        intent_at=bench.clock() - timedelta(days=days),
        version=1,
    )
    assert bench.listings.save(None, begun)
    assert _reason(bench, bench.done("publish", "vinted", product)) == reason
    assert len(bench.plugin.drafts) == (reason is None)


def test_publishing_what_has_changed_since_changes_the_listing(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    bench.done("publish", "vinted", bench.edit(product, title="Wool coat, navy"))
    [item] = bench.plugin.items.values()
    assert item["title"] == "Wool coat, navy"


def test_what_changes_while_a_listing_is_made_is_brought_up_to_date(bench: Bench) -> None:
    product = bench.product()

    def mute_at_draft(task: dict[str, Any]) -> None:
        bench.plugin.mute = task["path"] == "/api/v2/item_upload/drafts"

    bench.plugin.before = mute_at_draft
    ref = bench.submit("publish", "vinted", product)
    while not bench.plugin.drafts:
        bench.once(ref)
    bench.publishing.move(bench.tenant, ref.job_id, Transition.CANCEL)
    bench.plugin.before, bench.plugin.mute = lambda _: None, False
    edited = bench.edit(product, title="Wool coat, navy")
    assert bench.done("publish", "vinted", edited).status == "completed"
    [item] = bench.plugin.items.values()
    assert (item["title"], len(bench.plugin.drafts)) == ("Wool coat, navy", 1)


def test_a_draft_is_not_completed_for_another_listing_than_its_own(bench: Bench) -> None:
    product = bench.product()
    original = bench.plugins.sent

    def given_up_at_its_answer(tenant: str, key: str) -> Sent | None:
        found = original(tenant, key)
        listing = bench.listings.get(tenant, product.id, "vinted")
        claimed = bench.job(ref).status == "running"
        if claimed and found and found.answer and "draft" in found.answer.body and listing:
            after = replace(listing, generation=2, version=listing.version + 1)
            assert bench.listings.save(listing, after)
            bench.plugins.sent = original  # type: ignore[method-assign]
        return found

    bench.plugins.sent = given_up_at_its_answer  # type: ignore[method-assign]
    ref = bench.submit("publish", "vinted", product)
    job = bench.finish(ref)
    assert job.last_error is not None
    assert (job.last_error.code, bench.plugin.items) == ("CONFLICT", {})


def test_an_update_sends_new_photos_in_the_products_order(bench: Bench) -> None:
    front, _ = IMAGES
    product = bench.product()
    bench.done("publish", "vinted", product)
    new = "https://images.example/label.jpg"
    edited = bench.edit(product, images=(new, front))
    assert bench.done("update", "vinted", edited).status == "completed"
    [item] = bench.plugin.items.values()
    assert [bench.plugin.photos[each] for each in item["photos"]] == [new, front]
    listing = bench.listings.get(bench.tenant, product.id, "vinted")
    assert listing is not None
    assert set(listing.images) == {new, front}
    assert list(bench.plugin.photos.values()).count(front) == 1


# What a look-up proves


@pytest.mark.parametrize("odd", [(200, {"message": "hello"}), (200, {}), (403, {}), (0, {})])
def test_a_look_up_that_says_nothing_of_the_item_changes_nothing(
    odd: tuple[int, dict[str, Any]], bench: Bench
) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    before = bench.listings.get(bench.tenant, product.id, "vinted")
    [item] = bench.plugin.items
    bench.plugin.odd[item] = odd
    job = bench.done("sync", "vinted", product)
    assert job.status == "failed"
    assert bench.listings.get(bench.tenant, product.id, "vinted") == before
    bench.plugin.odd.clear()
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"


def test_an_update_that_is_answered_without_the_item_has_failed(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    [item] = bench.plugin.items
    bench.plugin.odd[item] = 200, {"message": "hello"}
    assert bench.done("update", "vinted", bench.edit(product, price=500)).status == "failed"


@pytest.mark.parametrize("status", [404, 410])
def test_an_item_that_is_gone_there_has_ended(status: int, bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    [item] = bench.plugin.items
    bench.plugin.odd[item] = status, {}
    assert bench.done("sync", "vinted", product).status == "completed"
    listing = bench.listings.get(bench.tenant, product.id, "vinted")
    assert listing is not None
    assert (listing.state, listing.generation) == ("ended", 2)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("odd", [(200, {}), (204, {}), (200, {"message": "welcome"})])
def test_a_deletion_counts_once_the_item_is_gone(
    odd: tuple[int, dict[str, Any]], done: bool, bench: Bench
) -> None:
    product = bench.product()
    bench.done("publish", "vinted", product)
    original = bench.plugin.post

    def odd_deletion(connection_id: str, text: str) -> bool:
        task = json.loads(text)
        item = task["path"].rpartition("/")[2]
        bench.plugin.odd = {item: odd} if task["method"] == "DELETE" else {}
        kept = dict(bench.plugin.items)
        answered = original(connection_id, text)
        if not done:
            bench.plugin.items = kept
        return answered

    bench.plugin.post = odd_deletion  # type: ignore[method-assign]
    job = bench.done("delete", "vinted", product)
    listing = bench.listings.get(bench.tenant, product.id, "vinted")
    assert listing is not None
    if done:
        assert (job.status, listing.state, listing.generation) == ("completed", "ended", 2)
        return
    assert (job.status, listing.state, listing.generation) == ("failed", "active", 1)
    bench.plugin.post, bench.plugin.odd = original, {}  # type: ignore[method-assign]
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert (bench.finish(job.ref).status, bench.plugin.items) == ("completed", {})


def test_orders_are_unsupported(bench: Bench) -> None:
    job = bench.done("orders", "vinted")
    assert _reason(bench, job) == "unsupported"


def test_a_ticket_brings_the_tasks_of_its_job_alone(bench: Bench) -> None:
    first = bench.submit("publish", "vinted", bench.product())
    second = bench.submit("publish", "vinted", bench.product("Other"))
    bench.plugin.connection = replace(bench.plugin.connection, only_job=second.job_id)
    bench.plugin.open()
    bench.queue.take()
    assert bench.once(first).waiting_for == "a plug-in for vinted"
    bench.dispatch(second)
    bench.execute()
    assert bench.job(second).status == "completed"


def test_an_answer_counts_from_where_its_task_went(bench: Bench) -> None:
    bench.plugin.mute = True
    ref = bench.submit("publish", "vinted", bench.product())
    bench.once(ref)
    [key] = bench.plugin.done
    stranger = Connection(id="browser-2", tenant=bench.tenant, key_id="key_1")
    with pytest.raises(NotFound):
        bench.inbox.answered(stranger, {"key": key, "status": 200, "body": {"id": "x"}})

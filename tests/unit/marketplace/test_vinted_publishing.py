"""Publishing on Vinted by way of the plug-in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spinneret.jobs.models import Connection, Job, Move
from spinneret.kernel.errors import NotFound
from tests.markets.bench import Bench


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
    original = bench.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        bench.plugin.deaf = "/completion" in text
        return original(connection_id, text)

    bench.plugin.post = lost_at_completion  # type: ignore[method-assign]
    job = bench.done("publish", "vinted", product)
    assert (job.status, _reason(bench, job)) == ("failed", "needs_input")
    assert bench.plugin.items == {}
    bench.plugin.post = original  # type: ignore[method-assign]
    bench.plugin.deaf = False
    bench.publishing.move(bench.tenant, job.id, Move.RETRY)
    assert _reason(bench, bench.finish(job.ref)) == "needs_input"  # never a second create
    assert bench.plugin.items == {}
    bench.done("link_product", "vinted", product, external_id=None)
    assert bench.done("publish", "vinted", product).status == "completed"
    assert len(bench.plugin.items) == 1


def test_another_job_for_the_product_asks_for_no_second_listing(bench: Bench) -> None:
    product = bench.product()
    original = bench.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        bench.plugin.deaf = "/completion" in text
        return original(connection_id, text)

    bench.plugin.post = lost_at_completion  # type: ignore[method-assign]
    assert bench.done("publish", "vinted", product).status == "failed"
    bench.plugin.post = original  # type: ignore[method-assign]
    bench.plugin.deaf = False
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
    assert job.last_error.details["fields"][0]["field"] == field


@pytest.mark.parametrize("status", [401, 422, 503])
def test_what_was_refused_is_asked_for_anew_when_the_job_is_tried_again(
    status: int, bench: Bench
) -> None:
    bench.plugin.status = status
    job = bench.done("publish", "vinted", bench.product())
    assert job.status == "failed"
    bench.plugin.status = None  # the seller has logged in, for instance
    bench.clock.advance(1)
    bench.publishing.move(bench.tenant, job.id, Move.RETRY)
    assert bench.finish(job.ref).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_draft_that_was_refused_is_asked_for_anew(bench: Bench) -> None:
    product = bench.product()
    original = bench.plugin.post

    def refused(connection_id: str, text: str) -> bool:
        bench.plugin.status = 422 if '"path": "/api/v2/item_upload/drafts"' in text else None
        return original(connection_id, text)

    bench.plugin.post = refused  # type: ignore[method-assign]  # what Vinted answers by path
    job = bench.done("publish", "vinted", product)
    assert job.status == "failed"
    bench.plugin.post, bench.plugin.status = original, None  # type: ignore[method-assign]
    assert bench.done("publish", "vinted", bench.edit(product, price=500)).status == "completed"
    assert len(bench.plugin.items) == 1


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
    bench.publishing.move(bench.tenant, job.id, Move.RETRY)
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

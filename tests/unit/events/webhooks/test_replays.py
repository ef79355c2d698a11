"""Requests with an Idempotency-Key: the stored response is returned before the state is checked."""

from collections.abc import Callable

import pytest

from spinneret.events.webhooks.vault import DEFAULT
from spinneret.jobs.models import RequestKey
from spinneret.jobs.service import Submitted
from spinneret.kernel.errors import Conflict, FeatureDisabled, IdempotencyMismatch, NotFound
from tests.fakes.webhook_world import WebhookWorld, answer, requested

KEY = RequestKey(tenant="acme", scope="one", payload="same")
OTHER = RequestKey(tenant="acme", scope="one", payload="other")
UNUSED = RequestKey(tenant="acme", scope="two", payload="same")

Ask = Callable[[RequestKey | None], Submitted]


@pytest.fixture(params=["test", "redeliver"])
def ask(request: pytest.FixtureRequest, hooks: WebhookWorld) -> Ask:
    """Provide a request about the only endpoint; the first one is accepted."""
    endpoint, _ = hooks.endpoint()
    if request.param == "test":
        return lambda key: hooks.service.test("acme", endpoint.id, key)
    hooks.finish()
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    return lambda key: hooks.service.redeliver("acme", endpoint.id, line.id, key)


def make_gone(hooks: WebhookWorld) -> None:
    """Let the receiver respond to the requested delivery with 410."""
    hooks.receiver.answers = [answer(410)]
    hooks.settle()


def make_inactive(hooks: WebhookWorld) -> None:
    hooks.service.update("acme", only(hooks), requested(is_active=False))


def remove(hooks: WebhookWorld) -> None:
    hooks.service.remove("acme", only(hooks))


def switch_off(hooks: WebhookWorld) -> None:
    hooks.enabled = False


def only(hooks: WebhookWorld) -> str:
    [endpoint] = hooks.service.page("acme", None, 2).items
    return endpoint.id


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (make_gone, Conflict),
        (make_inactive, Conflict),
        (remove, NotFound),
        (switch_off, FeatureDisabled),
    ],
)
def test_a_replay_is_answered_whatever_has_changed_since(
    hooks: WebhookWorld,
    ask: Ask,
    change: Callable[[WebhookWorld], None],
    refusal: type[Exception],
) -> None:
    first = ask(KEY)
    change(hooks)
    replay = ask(KEY)
    assert (replay.reply, replay.replayed) == (first.reply, True)
    with pytest.raises(IdempotencyMismatch):
        ask(OTHER)
    for key in (UNUSED, None):
        with pytest.raises(refusal):
            ask(key)


def test_a_redelivery_that_is_under_way_is_replayed(hooks: WebhookWorld) -> None:
    """After an attempt, the redelivery's job is in the log, and a new request conflicts with it."""
    endpoint, _ = hooks.endpoint()
    hooks.finish()
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    first = hooks.service.redeliver("acme", endpoint.id, line.id, KEY)
    hooks.receiver.answers = [answer(500)]
    hooks.run(hooks.deliveries()[-1].ref)
    replay = hooks.service.redeliver("acme", endpoint.id, line.id, KEY)
    assert (replay.reply, replay.replayed) == (first.reply, True)
    with pytest.raises(Conflict):
        hooks.service.redeliver("acme", endpoint.id, line.id, None)


def test_an_unknown_delivery_under_a_new_key_is_not_found(hooks: WebhookWorld) -> None:
    with pytest.raises(NotFound):
        hooks.service.redeliver("acme", DEFAULT, "dlv_unknown", KEY)

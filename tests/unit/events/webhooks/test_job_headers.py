"""Headers for a job's own `webhook_url`: sealed at rest and sent to that URL only."""

import pytest

from spinneret.events.webhooks.models import DeliveryStatus
from spinneret.events.webhooks.targets import UrlTarget, target_text, url_target
from spinneret.events.webhooks.vault import DEFAULT
from spinneret.jobs.models import JobFilter, JobStatus
from spinneret.kernel.errors import Conflict, ValidationFailed
from tests.fakes.webhook_world import WebhookWorld, requested

OWN = "https://own.example/hook"
HUSH = "Qx7Rt2Wb9Kd4Ln6Mv3Zs8Yc5"
HEADERS = {"Authorization": f"Bearer {HUSH}", "X-Team": "silk"}


@pytest.fixture(autouse=True)
def _default_secret(hooks: WebhookWorld) -> None:
    hooks.service.rotate_default("acme")


def test_they_go_to_the_jobs_own_url_and_to_no_endpoint(hooks: WebhookWorld) -> None:
    hooks.endpoint(headers={"X-Endpoint": "one"})
    hooks.finish(webhook_url=OWN, webhook_headers=HEADERS)
    hooks.settle()
    sent = {request.url.text: set(request.headers) for request in hooks.receiver.requests}
    assert set(HEADERS) <= sent.pop(OWN)
    [others] = sent.values()
    assert "X-Endpoint" in others
    assert not set(HEADERS) & others


def test_a_redelivery_sends_them_again(hooks: WebhookWorld) -> None:
    hooks.finish(webhook_url=OWN, webhook_headers=HEADERS)
    hooks.settle()
    [line] = hooks.lines(DEFAULT)
    hooks.service.redeliver("acme", DEFAULT, line.id, None)
    hooks.settle()
    assert [request.headers["X-Team"] for request in hooks.receiver.requests] == ["silk", "silk"]


def test_they_are_sealed_at_rest(hooks: WebhookWorld) -> None:
    hooks.finish(webhook_url=OWN, webhook_headers=HEADERS)
    hooks.settle()
    jobs = hooks.store.page("acme", JobFilter(), None, 10).items
    stored = [f"{job.notify} {job.payload} {job.result}" for job in jobs]
    shown = [f"{job!r} {line!r}" for job in jobs for line in hooks.lines(DEFAULT)]
    assert len(stored) == 2
    assert HUSH not in str(stored + shown)
    assert hooks.sealer.unsealed > 0


def test_they_are_opened_for_no_other_url(hooks: WebhookWorld) -> None:
    [target] = hooks.service.targets("acme", OWN, HEADERS)
    own = url_target(target)
    assert own is not None
    copied = target_text(UrlTarget(url=f"{OWN}/2", sealed_headers=own.sealed_headers))
    ref = hooks.submit_to((copied,))
    hooks.run(ref)
    hooks.settle()
    [line] = hooks.lines(DEFAULT)
    assert (line.status, hooks.receiver.requests) == (DeliveryStatus.FAILED, [])


def test_the_largest_message_with_the_largest_headers_can_be_stored(hooks: WebhookWorld) -> None:
    """Each character of both needs two characters in JSON."""
    hooks.work = lambda _: {"text": '"' * 31_000}
    hooks.finish(webhook_url=OWN, webhook_headers={"X": '"' * 8191})
    hooks.settle()
    [delivery] = hooks.deliveries()
    assert delivery.status is JobStatus.COMPLETED
    assert hooks.receiver.requests[0].headers["X"] == '"' * 8191


@pytest.mark.parametrize(
    ("url", "headers", "field"),
    [
        (None, {"X-Team": "silk"}, "webhook_headers"),
        (OWN, {"X Team": "silk"}, "webhook_headers"),
        (OWN, {"Host": "inside.example"}, "webhook_headers.Host"),
        (OWN, {"webhook-id": "msg_1"}, "webhook_headers.webhook-id"),
        (OWN, {"X-Team": "silk\n"}, "webhook_headers.X-Team"),
        (OWN, {f"X-{number}": "v" for number in range(21)}, "webhook_headers"),
    ],
)
def test_the_rules_are_those_of_an_endpoints_headers(
    hooks: WebhookWorld, url: str | None, headers: dict[str, str], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        hooks.service.targets("acme", url, headers)
    assert [each["path"] for each in refusal.value.details["fields"]] == [field]


def test_who_has_no_default_secret_reads_how_to_create_it(hooks: WebhookWorld) -> None:
    with pytest.raises(Conflict) as refusal:
        hooks.service.targets("globex", OWN, {})
    [field] = refusal.value.details["fields"]
    assert (field["path"], "POST /api/v1/webhooks/default-secret" in field["hint"]) == (
        "webhook_url",
        True,
    )


@pytest.mark.parametrize("sealed", [(), (b"\x00one",), (b"one", b"\xff" * 5000)])
def test_a_target_comes_back_as_it_was_stored(sealed: tuple[bytes, ...]) -> None:
    target = UrlTarget(url=f"{OWN}?a=b:c", sealed_headers=sealed)
    assert url_target(target_text(target)) == target


def test_the_id_of_an_endpoint_is_no_url() -> None:
    assert url_target("wh_0198c5a1d2e37f4a8b6c9d0e1f2a3b52") is None


def test_an_endpoint_keeps_its_headers_for_their_own_origin_only(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint(headers=HEADERS)
    path = f"{endpoint.url}/other"
    kept = hooks.service.update("acme", endpoint.id, requested(url=path))
    assert kept.header_names == tuple(HEADERS)
    with pytest.raises(ValidationFailed):
        hooks.service.update("acme", endpoint.id, requested(url=OWN))
    moved = hooks.service.update("acme", endpoint.id, requested(url=OWN, headers={}))
    assert (moved.url, moved.header_names) == (OWN, ())

"""The routes of webhooks."""

import base64
from datetime import timedelta
from typing import Any

import pytest

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Role
from spinneret.access.trail.rules import account_event
from spinneret.access.users.models import User
from spinneret.events.webhooks import limits
from spinneret.events.webhooks.signing import verify
from tests.fakes.webhook_world import answer
from tests.unit.runtime.api import SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

HOOKS = "/api/v1/webhooks"
URL = "https://receiver.example/hook"


def ask(api: Api, key: str, method: str, path: str = "", body: Any = None, **given: Any) -> Answer:
    """Send a request about webhooks; by default, it has no Idempotency-Key."""
    headers = {"Idempotency-Key": given.pop("idempotency", None)}
    query = {name: [value] for name, value in given.items()} or None
    return api.send(
        SUBMIT,
        key,
        body="" if body is None else body,
        headers=headers,
        httpMethod=method,
        path=HOOKS + path,
        multiValueQueryStringParameters=query,
    )


def create(api: Api, key: str, **fields: Any) -> Answer:
    return ask(api, key, "POST", body={"name": "ours", "url": URL, **fields})


def created(api: Api, key: str, **fields: Any) -> str:
    answer_ = create(api, key, **fields)
    assert answer_.status == 201, answer_.text
    return str(answer_.body["endpoint_id"])


# ---------------------------------------------------------------- Endpoints


def test_a_webhook_is_made_and_its_secret_is_shown_once(api: Api, key: str) -> None:
    made = create(api, key, headers={"Authorization": "Bearer hush"})
    assert (made.status, made.headers["Cache-Control"]) == (201, "no-store")
    view = made.body
    secret = view.pop("secret")
    assert secret.startswith("whsec_")
    assert view == {
        "endpoint_id": view["endpoint_id"],
        "name": "ours",
        "url": URL,
        "kind": "webhook",
        "events": ["job.completed", "job.failed"],
        "header_names": ["Authorization"],
        "source_id": None,
        "is_active": True,
        "disabled_reason": None,
        "old_secret_until": None,
        "created_at": "2026-01-02T12:00:00.000000Z",
        "updated_at": "2026-01-02T12:00:00.000000Z",
    }
    shown = [ask(api, key, "GET", f"/{view['endpoint_id']}"), ask(api, key, "GET")]
    assert shown[0].body == shown[1].body["items"][0] == view
    assert all(secret not in each.text and "hush" not in each.text for each in shown)


@pytest.mark.parametrize(
    ("fields", "status", "code", "field"),
    [
        ({"url": "ftp://receiver.example/"}, 400, "URL_INVALID", None),
        ({"url": "http://127.0.0.1/"}, 403, "URL_BLOCKED", None),
        ({"url": "http://metadata.google.internal/"}, 403, "URL_BLOCKED", None),
        ({"url": "https://r.example/" + "x" * 2048}, 422, "VALIDATION_ERROR", "url"),
        ({"name": ""}, 422, "VALIDATION_ERROR", "name"),
        ({"events": []}, 422, "VALIDATION_ERROR", "events"),
        ({"events": ["webhook.test"]}, 422, "VALIDATION_ERROR", "events.0"),
        ({"events": ["crawl.begun"]}, 422, "VALIDATION_ERROR", "events.0"),
        ({"events": ["craw*"]}, 422, "VALIDATION_ERROR", "events.0"),
        ({"events": ["nothing.*"]}, 422, "VALIDATION_ERROR", "events.0"),
        ({"events": ["crawl.*.*"]}, 422, "VALIDATION_ERROR", "events.0"),
        ({"secret": "whsec_mine"}, 422, "VALIDATION_ERROR", "secret"),
        ({"headers": {"webhook-id": "x"}}, 422, "VALIDATION_ERROR", "headers.webhook-id"),
        ({"headers": {"Host": "x"}}, 422, "VALIDATION_ERROR", "headers.Host"),
    ],
)
def test_a_webhook_that_can_not_be_is_refused(
    api: Api, key: str, fields: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    for method, path in (("POST", ""), ("PUT", f"/{created(api, key)}")):
        body = {"name": "ours", "url": URL, **fields}
        refusal = assert_refused(ask(api, key, method, path, body), status, code)
        if field is not None:
            assert fields_of(refusal) == [field]


@pytest.mark.parametrize(
    ("event", "hint"),
    [
        ("target.dwon", "did you mean `target.down`?"),
        ("Crawl.Complete", "did you mean `crawl.completed`?"),
        ("job.done", "known are `job.completed`, `job.failed`"),
        ("nothing.*", "known are `*`, `audit.*`, "),
        ("x" * 10, "known are `*`, `audit.*`, "),
    ],
)
def test_an_unknown_event_is_answered_with_a_hint(
    api: Api, key: str, event: str, hint: str
) -> None:
    refused = assert_refused(create(api, key, events=[event]), 422, "VALIDATION_ERROR")
    [field] = refused["details"]["fields"]
    assert (field["path"], field["message"]) == ("events.0", "no such event")
    assert field["hint"].startswith(hint)


def test_a_tenant_has_so_many_webhooks_and_no_more(api: Api, key: str) -> None:
    ids = [created(api, key) for _ in range(limits.WEBHOOK_ENDPOINTS_MAX)]
    assert_refused(create(api, key), 409, "CONFLICT")
    assert ask(api, key, "DELETE", f"/{ids[0]}").status == 204
    created(api, key)


def test_webhooks_are_listed_newest_first_page_by_page(api: Api, key: str) -> None:
    ids = [created(api, key) for _ in range(3)]
    first = ask(api, key, "GET", limit="2").body
    assert [each["endpoint_id"] for each in first["items"]] == ids[:0:-1]
    second = ask(api, key, "GET", limit="2", cursor=first["next_cursor"]).body
    assert [each["endpoint_id"] for each in second["items"]] == ids[:1]
    assert not second["has_more"]


def test_a_webhook_is_replaced_but_its_secret_and_headers(api: Api, key: str) -> None:
    endpoint = created(api, key, headers={"X-Tag": "one"})
    body = {"name": "theirs", "url": URL + "/2", "events": ["job.failed"], "is_active": False}
    view = ask(api, key, "PUT", f"/{endpoint}", body).body
    assert view | body == view
    assert view["header_names"] == ["X-Tag"]
    assert ask(api, key, "PUT", f"/{endpoint}", {**body, "headers": {}}).body["header_names"] == []


@pytest.mark.parametrize("prefix", ["whsec_", ""])
def test_a_webhook_may_come_with_its_own_secret(api: Api, key: str, prefix: str) -> None:
    own = prefix + base64.b64encode(bytes(range(24))).decode()
    made = create(api, key, secret=own).body
    assert made["secret"] == own
    ask(api, key, "POST", f"/{made['endpoint_id']}/test")
    api.hooks.settle()
    [request] = api.hooks.receiver.requests
    assert verify(request.headers, request.body or b"", [own], api.hooks.clock())
    assert own not in ask(api, key, "GET", f"/{made['endpoint_id']}").text


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "hunter2",
        "Zm9v",
        base64.b64encode(bytes(range(23))).decode(),
        base64.b64encode(bytes(range(65))).decode(),
        base64.b64encode(b"aaaabbbb" * 4).decode(),
        base64.b64encode(bytes(range(11)) * 3).decode(),
        base64.urlsafe_b64encode(bytes(range(230, 256))).decode(),
        "whsec_" + "A" * 200,
        7,
    ],
)
def test_a_weak_or_malformed_secret_is_refused_and_not_repeated(
    api: Api, key: str, secret: Any
) -> None:
    answer_ = create(api, key, secret=secret)
    assert fields_of(assert_refused(answer_, 422, "VALIDATION_ERROR")) == ["secret"]
    assert len(str(secret)) < 7 or str(secret) not in answer_.text


def test_a_secret_is_rotated(api: Api, key: str) -> None:
    made = create(api, key).body
    rotated = ask(api, key, "POST", f"/{made['endpoint_id']}/rotate")
    assert (rotated.status, rotated.headers["Cache-Control"]) == (201, "no-store")
    assert rotated.body["secret"] != made["secret"]
    assert rotated.body["old_secret_until"] == "2026-01-03T12:00:00.000000Z"


def test_the_default_secret_is_an_administrators(api: Api, key: str) -> None:
    assert_refused(ask(api, key, "POST", "/default-secret"), 403, "FORBIDDEN")
    admin = api.key("acme", Scope.ADMIN)
    first, second = (ask(api, admin, "POST", "/default-secret") for _ in range(2))
    assert first.body["old_secret_until"] is None
    assert second.body["old_secret_until"] == "2026-01-03T12:00:00.000000Z"
    assert first.body["secret"] != second.body["secret"]


@pytest.mark.parametrize("path", ["", "/default-secret", "/wh_1/rotate"])
def test_an_answer_with_a_secret_can_not_be_replayed(api: Api, path: str) -> None:
    admin = api.key("acme", Scope.ADMIN, Scope.WRITE)
    body = {"name": "ours", "url": URL} if path == "" else None
    refused = ask(api, admin, "POST", path, body, idempotency="once")
    assert fields_of(assert_refused(refused, 422, "VALIDATION_ERROR")) == ["Idempotency-Key"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("PUT", ""),
        ("POST", "/rotate"),
        ("POST", "/test"),
        ("GET", "/deliveries"),
        ("POST", "/deliveries/dlv_1/redeliver"),
    ],
)
def test_a_foreign_webhook_is_as_unknown_as_any(api: Api, key: str, method: str, path: str) -> None:
    endpoint = created(api, api.key("zebra"))
    body = {"name": "ours", "url": URL} if method == "PUT" else None
    for each in (endpoint, "wh_unknown", "%23", "x" * 1100):
        assert_refused(ask(api, key, method, f"/{each}{path}", body), 404, "NOT_FOUND")


# ---------------------------------------------------------------- Deliveries


def test_a_test_event_is_delivered_and_logged(api: Api, key: str) -> None:
    endpoint = created(api, key)
    api.hooks.receiver.answers = [answer(500, "sorry"), answer(200, "thanks")]
    submitted = ask(api, key, "POST", f"/{endpoint}/test")
    assert submitted.status == 202
    api.hooks.settle()
    [line] = ask(api, key, "GET", f"/{endpoint}/deliveries").body["items"]
    assert line == {
        "delivery_id": submitted.body["delivery_id"],
        "endpoint_id": endpoint,
        "job_id": None,
        "job_type": None,
        "event": "webhook.test",
        "payload": {
            "type": "webhook.test",
            "timestamp": "2026-01-02T12:00:00.000000Z",
            "data": {"endpoint_id": endpoint},
        },
        "delivery_job_id": submitted.body["job_id"],
        "url": URL,
        "status": "delivered",
        "attempts": 2,
        "max_attempts": 5,
        "last_attempt_at": "2026-01-02T12:00:05.000000Z",
        "next_attempt_at": None,
        "response_status": 200,
        "response_body": "thanks",
        "error": None,
        "created_at": "2026-01-02T12:00:00.000000Z",
        "delivered_at": "2026-01-02T12:00:05.000000Z",
    }


def test_deliveries_are_listed_newest_first_page_by_page(api: Api, key: str) -> None:
    endpoint = created(api, key)
    ids = [ask(api, key, "POST", f"/{endpoint}/test").body["delivery_id"] for _ in range(3)]
    api.hooks.settle()
    first = ask(api, key, "GET", f"/{endpoint}/deliveries", limit="2").body
    assert [each["delivery_id"] for each in first["items"]] == ids[:0:-1]
    cursor = first["next_cursor"]
    second = ask(api, key, "GET", f"/{endpoint}/deliveries", limit="2", cursor=cursor).body
    assert ([each["delivery_id"] for each in second["items"]], second["has_more"]) == (
        ids[:1],
        False,
    )


# covers P-10
def test_a_redelivery_repeats_id_and_body(api: Api, key: str) -> None:
    endpoint = created(api, key)
    api.hooks.receiver.answers = [answer(410)]
    api.hooks.finish()
    api.hooks.settle()
    ask(api, key, "PUT", f"/{endpoint}", {"name": "ours", "url": URL + "/new"})
    [line] = ask(api, key, "GET", f"/{endpoint}/deliveries").body["items"]
    api.hooks.receiver.answers = [answer(200)]
    path = f"/{endpoint}/deliveries/{line['delivery_id']}/redeliver"
    again = ask(api, key, "POST", path)
    assert (again.status, again.body["delivery_id"]) == (202, line["delivery_id"])
    twice = ask(api, key, "POST", path)
    assert twice.body["job_id"] == again.body["job_id"] != line["delivery_job_id"]
    api.hooks.settle()
    first, second = api.hooks.receiver.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert second.url.text == URL + "/new"
    [line] = ask(api, key, "GET", f"/{endpoint}/deliveries").body["items"]
    assert (line["status"], line["delivery_job_id"]) == ("delivered", again.body["job_id"])


def test_a_delivery_under_way_is_not_begun_again(api: Api, key: str) -> None:
    endpoint = created(api, key)
    api.hooks.receiver.answers = [answer(500)]
    submitted = ask(api, key, "POST", f"/{endpoint}/test").body
    api.hooks.run(api.hooks.deliveries()[0].ref)
    path = f"/{endpoint}/deliveries/{submitted['delivery_id']}/redeliver"
    refusal = assert_refused(ask(api, key, "POST", path), 409, "CONFLICT")
    assert refusal["details"] == {"job_id": submitted["job_id"]}


def test_nothing_is_sent_to_an_inactive_webhook(api: Api, key: str) -> None:
    endpoint = created(api, key)
    delivery = ask(api, key, "POST", f"/{endpoint}/test").body["delivery_id"]
    api.hooks.settle()
    ask(api, key, "PUT", f"/{endpoint}", {"name": "ours", "url": URL, "is_active": False})
    for path in ("test", f"deliveries/{delivery}/redeliver"):
        assert_refused(ask(api, key, "POST", f"/{endpoint}/{path}"), 409, "CONFLICT")


def test_a_submission_under_an_idempotency_key_is_replayed(api: Api, key: str) -> None:
    one, other = created(api, key), created(api, key)
    answers = [ask(api, key, "POST", f"/{one}/test", idempotency="once") for _ in range(2)]
    assert answers[0].body == answers[1].body
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    third = ask(api, key, "POST", f"/{other}/test", idempotency="once")
    assert third.body["delivery_id"] != answers[0].body["delivery_id"]


def test_the_deliveries_of_single_jobs_are_listed_as_default(api: Api, key: str) -> None:
    api.hooks.service.rotate_default("acme")
    api.hooks.finish(webhook_url="https://own.example/hook")
    api.hooks.settle()
    [line] = ask(api, key, "GET", "/default/deliveries").body["items"]
    assert (line["endpoint_id"], line["url"]) == (None, "https://own.example/hook")
    path = f"/default/deliveries/{line['delivery_id']}/redeliver"
    assert ask(api, key, "POST", path).body["delivery_id"] == line["delivery_id"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["completed", "failed"], ["job.completed", "job.failed"]),
        (["*"], ["*"]),
        (["crawl.*", "job.*", "crawl.expired"], ["crawl.*", "crawl.expired", "job.*"]),
    ],
)
def test_events_are_named_by_type_by_wildcard_or_short(
    api: Api, key: str, given: list[str], kept: list[str]
) -> None:
    endpoint = created(api, key, events=given)
    assert ask(api, key, "GET", f"/{endpoint}").body["events"] == kept


# covers T-03
def test_events_of_accounts_go_where_a_caller_who_may_read_them_sends_them(
    api: Api, key: str
) -> None:
    admin = api.key("acme", Scope.ADMIN)
    user = User(
        tenant="acme", id="u_1", email="", name="", role=Role.SELLER, created_at=api.hooks.clock()
    )

    def signed_in(second: int) -> list[str]:
        """Send the event of a sign-in, and return the endpoints of `ours` that received it."""
        now = api.hooks.clock() + timedelta(seconds=second)
        api.hooks.sink.take(account_event(user, "user.signed_in", now, address="203.0.113.7"))
        api.hooks.settle()
        return [each for each in ours if len(api.hooks.lines(each)) == second]

    for events in (["user.*"], ["job.failed", "user.signed_in"]):
        assert_refused(create(api, key, events=events), 403, "FORBIDDEN")
    ours = [created(api, admin, events=["user.*"]), created(api, key, events=["*"])]
    assert signed_in(1) == ours[:1]
    path = f"/{ours[0]}/deliveries"
    for reader, data in ((admin, {"user_id": "u_1", "address": "203.0.113.7"}), (key, {})):
        [line] = ask(api, reader, "GET", path).body["items"]
        assert (line["event"], line["payload"]["data"]) == ("user.signed_in", data)
    body = {"name": "mine", "url": "https://mine.example/", "events": ["*"]}
    assert ask(api, key, "PUT", f"/{ours[0]}", body).status == 200
    assert signed_in(2) == []
    assert ask(api, key, "POST", f"{path}/{line['delivery_id']}/redeliver").status == 202
    api.hooks.settle()
    assert ask(api, admin, "GET", path).body["items"][0]["status"] == "failed"
    assert {each.url.text for each in api.hooks.receiver.requests} == {URL}


# ---------------------------------------------------------------- Submissions


def crawl(api: Api, key: str, **fields: Any) -> Answer:
    body = {"url": "https://site.example/", **fields}
    return api.send(SUBMIT, key, body=body, headers={"Idempotency-Key": None})


def notified(api: Api, answer_: Answer) -> tuple[str, ...]:
    [job] = [
        job for ref, job in api.crawls.store._jobs.items() if ref.job_id == answer_.body["job_id"]
    ]
    return job.notify


def test_a_crawl_keeps_its_own_url_and_no_webhook_of_the_tenant(api: Api, key: str) -> None:
    api.hooks.service.rotate_default("acme")
    created(api, key)
    own = "https://own.example/hook"
    assert notified(api, crawl(api, key)) == ()
    assert notified(api, crawl(api, key, webhook_url=own)) == (own,)


def test_a_crawl_with_a_url_of_its_own_is_another_crawl(api: Api, key: str) -> None:
    api.hooks.service.rotate_default("acme")
    urls = (None, "https://own.example/1", "https://own.example/2")
    ids = [
        crawl(api, key, **({"webhook_url": url} if url else {})).body["job_id"]
        for url in (*urls, *urls)
    ]
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == 3


def test_a_crawl_with_other_headers_for_its_url_is_another_crawl(api: Api, key: str) -> None:
    api.hooks.service.rotate_default("acme")
    own = "https://own.example/hook"
    given: list[dict[str, str]] = [{}, {"X-Team": "one"}, {"X-Team": "two"}]
    ids = [
        crawl(api, key, webhook_url=own, webhook_headers=headers).body["job_id"]
        for headers in (*given, *given)
    ]
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == 3
    assert crawl(api, key, webhook_url=own).body["job_id"] == ids[0]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"webhook_headers": {"X-Team": "one"}}, "webhook_headers"),
        ({"webhook_url": URL, "webhook_headers": {"Host": "hush"}}, "webhook_headers.Host"),
        ({"webhook_url": URL, "webhook_headers": {"X-Team": 7}}, "webhook_headers.X-Team"),
        ({"webhook_url": URL, "webhook_headers": ["hush"]}, "webhook_headers"),
        ({"webhook_url": URL, "webhook_headers": None}, "webhook_headers"),
    ],
)
def test_headers_of_a_crawl_that_can_not_be_sent_are_refused(
    api: Api, key: str, fields: dict[str, Any], field: str
) -> None:
    api.hooks.service.rotate_default("acme")
    answer_ = crawl(api, key, **fields)
    assert fields_of(assert_refused(answer_, 422, "VALIDATION_ERROR")) == [field]
    assert "hush" not in answer_.text


def test_a_url_that_could_not_be_signed_for_is_refused(api: Api, key: str) -> None:
    answer_ = crawl(api, key, webhook_url="https://own.example/hook")
    assert_refused(answer_, 409, "CONFLICT")


def test_a_url_that_must_not_be_reached_is_refused(api: Api, key: str) -> None:
    api.hooks.service.rotate_default("acme")
    answer_ = crawl(api, key, webhook_url="http://169.254.169.254/")
    assert_refused(answer_, 403, "URL_BLOCKED")


def test_a_stage_without_webhooks_has_no_such_routes_nor_notifications(api: Api, key: str) -> None:
    endpoint = created(api, key)
    api.hooks.enabled = False
    api.services.webhooks = api.hooks.service
    api.services.crawl.webhooks = api.hooks.service
    for method, path in (("GET", ""), ("GET", f"/{endpoint}"), ("POST", f"/{endpoint}/test")):
        assert_refused(ask(api, key, method, path), 404, "FEATURE_DISABLED")
    assert notified(api, crawl(api, key)) == ()
    refused = crawl(api, key, webhook_url="https://own.example/hook")
    assert_refused(refused, 404, "FEATURE_DISABLED")


def test_what_was_accepted_is_replayed_where_webhooks_were_switched_off(api: Api, key: str) -> None:
    path = f"/{created(api, key)}/test"
    first = ask(api, key, "POST", path, idempotency="once")
    api.hooks.enabled = False
    api.services.webhooks = api.hooks.service
    replay = ask(api, key, "POST", path, idempotency="once")
    assert (replay.status, replay.body) == (202, first.body)


# ---------------------------------------------------------------- Secrets in URLs


def test_a_url_is_shown_whole_to_keys_that_may_change_it(api: Api, key: str) -> None:
    url = f"{URL}?token=Qx7Rt2Wb9Kd4Ln6Mv3Zs8Yc5"
    made = create(api, key, url=url).body
    path = f"/{made['endpoint_id']}"
    changed = ask(api, key, "PUT", path, {"name": "ours", "url": url})
    rotated = ask(api, key, "POST", f"{path}/rotate")
    assert {each["url"] for each in (made, changed.body, rotated.body)} == {url}
    for scopes, shown in (
        ((Scope.WRITE,), url),
        ((Scope.ADMIN,), url),
        ((Scope.READ,), f"{URL}?token=[redacted]"),
    ):
        reader = api.key("acme", *scopes)
        assert ask(api, reader, "GET", path).body["url"] == shown
        assert [each["url"] for each in ask(api, reader, "GET").body["items"]] == [shown]


def test_the_log_shows_a_url_without_its_secret(api: Api, key: str) -> None:
    endpoint = created(api, key, url=f"{URL}?token=Qx7Rt2Wb9Kd4Ln6Mv3Zs8Yc5")
    ask(api, key, "POST", f"/{endpoint}/test")
    api.hooks.settle()
    [line] = ask(api, key, "GET", f"/{endpoint}/deliveries").body["items"]
    assert line["url"] == f"{URL}?token=[redacted]"

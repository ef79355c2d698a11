"""Bodies that were uploaded before their request."""

import json
from typing import Any

import pytest

from spinneret.access import limits as access_limits
from spinneret.access.keys.models import Scope
from spinneret.runtime import limits as runtime_limits
from tests.unit.runtime.api import GET, ISSUE, SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

BODY = json.dumps({"url": "https://a.example/", "force": True}).encode()


def begin(api: Api, key: str) -> dict[str, Any]:
    answer = api.send(ISSUE, key, path="/api/v1/uploads", body="", headers=JSON)
    assert (answer.status, answer.headers["Cache-Control"]) == (201, "no-store")
    body: dict[str, Any] = answer.body
    return body


def uploaded(api: Api, key: str, body: bytes = BODY) -> str:
    form = begin(api, key)
    api.upload_store.post(form["fields"], body)
    return str(form["upload_id"])


JSON = {"Idempotency-Key": None}


def submit(api: Api, key: str, upload_id: str, **headers: str | None) -> Answer:
    return api.send(SUBMIT, key, body="", headers={**JSON, "Upload-Id": upload_id, **headers})


def test_a_form_says_how_much_it_takes_and_how_long_it_holds(api: Api, key: str) -> None:
    form = begin(api, key)
    assert form["max_bytes"] == access_limits.UPLOAD_MAX_BYTES
    assert form["fields"]["until"] == str(access_limits.UPLOAD_FORM_SECONDS)
    assert form["expires_at"] == "2026-01-02T12:15:00.000000Z"


def test_a_request_takes_the_body_that_was_uploaded_for_it(api: Api, key: str) -> None:
    large = BODY[:-1] + b" " * runtime_limits.REQUEST_BODY_MAX_BYTES + b"}"
    assert_refused(api.send(SUBMIT, key, body=large.decode()), 413, "BODY_TOO_LARGE")
    answer = submit(api, key, uploaded(api, key, large))
    assert answer.status == 202, answer.text
    assert len(api.crawls.queue.sent) == 1


def test_an_uploaded_body_counts_for_idempotency_as_any_other(api: Api, key: str) -> None:
    same, other = uploaded(api, key), uploaded(api, key, BODY.replace(b"a.ex", b"b.ex"))
    named = {"Idempotency-Key": "one"}
    first = api.send(SUBMIT, key, body=BODY.decode(), headers=named)
    again = submit(api, key, same, **named)
    assert (again.body, again.headers["Idempotent-Replayed"]) == (first.body, "true")
    assert submit(api, key, other, **named).status == 422


@pytest.mark.parametrize("upload_id", ["upl_unknown", "", "../../T/acme/upl_1", "x" * 5000])
def test_an_unknown_upload_is_not_found(api: Api, key: str, upload_id: str) -> None:
    assert_refused(submit(api, key, upload_id), 404, "NOT_FOUND")


def test_another_tenant_s_upload_is_as_unknown_as_any(api: Api, key: str) -> None:
    upload_id = uploaded(api, api.key("other"))
    assert_refused(submit(api, key, upload_id), 404, "NOT_FOUND")


def test_a_form_that_was_never_posted_has_no_body(api: Api, key: str) -> None:
    assert_refused(submit(api, key, begin(api, key)["upload_id"]), 404, "NOT_FOUND")


def test_a_body_and_an_upload_are_one_too_many(api: Api, key: str) -> None:
    answer = api.send(SUBMIT, key, headers={"Upload-Id": uploaded(api, key)})
    assert fields_of(assert_refused(answer, 422, "VALIDATION_ERROR")) == ["Upload-Id"]
    assert api.crawls.queue.sent == []


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 422, "VALIDATION_ERROR"),
        (b"\xff", 422, "VALIDATION_ERROR"),
        (b"[]", 422, "VALIDATION_ERROR"),
        (b" " * (access_limits.UPLOAD_MAX_BYTES + 1), 413, "BODY_TOO_LARGE"),
    ],
    ids=["no JSON", "not UTF-8", "no object", "too large"],
)
def test_an_uploaded_body_is_held_to_the_same_rules(
    api: Api, key: str, body: bytes, status: int, code: str
) -> None:
    assert_refused(submit(api, key, uploaded(api, key, body)), status, code)
    assert api.crawls.queue.sent == []


def test_a_request_that_has_no_body_looks_at_no_upload(api: Api, key: str) -> None:
    answer = api.send(GET, key, headers={"Upload-Id": "upl_unknown"})
    assert_refused(answer, 404, "NOT_FOUND")
    assert answer.body["error"] == "no such job"


def test_a_key_that_may_only_read_can_not_upload(api: Api) -> None:
    reader = api.key("acme", Scope.READ)
    answer = api.send(ISSUE, reader, path="/api/v1/uploads", body="", headers=JSON)
    assert_refused(answer, 403, "FORBIDDEN")

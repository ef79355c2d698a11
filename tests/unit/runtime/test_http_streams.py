"""Timelines as server-sent events, and the event at which a stream resumes."""

from datetime import timedelta

import pytest

from tests.fakes.time import START
from tests.unit.runtime.api import STREAM, SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

STREAMS = ("/api/v1/jobs/{}/stream", "/api/v1/crawl/{}/stream")


@pytest.fixture
def job_id(api: Api, key: str) -> str:
    """Provide a waiting crawl, whose timeline has one event."""
    return str(api.send(SUBMIT, key, body={"url": "https://site.example/"}).body["job_id"])


def stream(api: Api, key: str, path: str, last: str | None) -> Answer:
    return api.send(
        STREAM,
        key,
        path=path,
        headers={"Last-Event-ID": last},
    )


# covers P-07
@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("last", [None, ""])
def test_a_stream_begins_at_the_beginning(
    api: Api, key: str, job_id: str, path: str, last: str | None
) -> None:
    answer = stream(api, key, path.format(job_id), last)
    assert answer.status == 200
    assert answer.text.startswith("retry: 1000\n\nid: 00000000-000000\nevent: status_changed\n")


# covers P-07
@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_goes_on_after_the_last_event(api: Api, key: str, job_id: str, path: str) -> None:
    answer = stream(api, key, path.format(job_id), "00000000-000000")
    assert (answer.status, answer.text) == (200, "retry: 1000\n\n")


# covers T-01
def test_a_key_that_is_revoked_during_the_wait_gets_no_later_event(
    api: Api, key: str, job_id: str
) -> None:
    [own] = api.key_store.keys.values()

    def pause(seconds: float) -> None:
        api.crawls.clock.advance(seconds)
        api.keys.revoke(own.tenant, own.id)
        if api.crawls.clock() - START > timedelta(seconds=10):
            for sent in api.crawls.queue.take():
                api.crawls.run(sent.ref)

    api.crawls.sleep = pause
    for status, text in ((200, "retry: 1000\n\n"), (401, "AUTH_REQUIRED")):
        answer = stream(api, key, STREAMS[0].format(job_id), "00000000-000000")
        assert (answer.status, text in answer.text) == (status, True)
        assert "running" not in answer.text


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("last", ["~~", "é", "x" * 2000, "1", "00000000-000000,00000000-000001"])
def test_an_id_that_is_no_event_s_is_refused(
    api: Api, key: str, job_id: str, path: str, last: str
) -> None:
    """DynamoDB rejects keys of some forms, and ranges that end before they begin."""
    answer = stream(api, key, path.format(job_id), last)
    assert fields_of(assert_refused(answer, 422, "VALIDATION_ERROR")) == ["Last-Event-ID"]

"""Entries sent to EventBridge, and the handling of its responses."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from spinneret.events.bus.eventbridge import EventBridgeBus
from spinneret.kernel.errors import DependencyUnavailable, PermanentError
from spinneret.outbox.models import DomainEvent
from tests.fakes.time import START

EVENT = DomainEvent(
    tenant="acme",
    type="crawl.completed",
    subject="job_1",
    sequence=3,
    occurred_at=START,
    data={"title": "Fäden"},
    targets=("https://own.example/?key=hush",),
)
TAKEN = {"FailedEntryCount": 0, "Entries": [{"EventId": "one"}]}


class FakeBus:
    """The only method of boto3's client that the bus calls."""

    def __init__(self, answer: Any) -> None:
        self.entries: list[Mapping[str, Any]] = []
        self._answer = answer

    def put_events(self, *, Entries: Sequence[Mapping[str, Any]]) -> Any:  # noqa: N803 - boto3's
        self.entries += Entries
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def failed(code: str) -> dict[str, Any]:
    """Return a response with status 200 that reports a failed entry."""
    return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": code, "ErrorMessage": "no"}]}


def test_an_event_is_one_entry_without_the_webhooks_of_its_subject() -> None:
    client = FakeBus(TAKEN)
    EventBridgeBus(client, "spinneret-test").take(EVENT)
    [entry] = client.entries
    detail = json.loads(entry["Detail"])
    assert {name: value for name, value in entry.items() if name != "Detail"} == {
        "EventBusName": "spinneret-test",
        "Source": "spinneret",
        "DetailType": "crawl.completed",
        "Time": START,
    }
    assert detail == {
        "id": EVENT.id,
        "type": "crawl.completed",
        "tenant": "acme",
        "subject": "job_1",
        "sequence": 3,
        "occurred_at": "2026-01-02T12:00:00.000000Z",
        "data": {"title": "Fäden"},
    }


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (failed("ThrottlingException"), DependencyUnavailable),
        (failed("InternalFailure"), DependencyUnavailable),
        (failed("MalformedDetail"), PermanentError),
        (ConnectTimeoutError(endpoint_url="http://bus"), DependencyUnavailable),
    ],
)
def test_an_entry_that_failed_is_no_success(answer: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        EventBridgeBus(FakeBus(answer), "spinneret-test").take(EVENT)

"""Data that a handler attaches to errors and events never prevents a job's correct end."""

import json
import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import limits
from spinneret.jobs.disclosure import safe_data, safe_text
from spinneret.jobs.models import JobEventKind, JobStatus
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel.errors import FetchTimeout, NotFound
from tests.unit.jobs.worker_world import WorkerWorld, raising


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text of it")


def circle() -> dict[str, Any]:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    return endless


def deep() -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for _ in range(5000):
        nested = {"in": nested}
    return nested


ODD: dict[str, Any] = {
    "not a number": {"x": math.nan},
    "infinite": {"x": [math.inf]},
    "a set": {"x": {1}},
    "bytes": {"x": b"\xff"},
    "an object": {"x": object()},
    "without a text": {"x": Unprintable()},
    "a key that is no text": {("a", 1): "x", None: 1, 2: 3},
    "a circle": circle(),
    "too deep": deep(),
    "half a character": {"x": "\ud800", "\udfff": 1},
    "a moment": {"x": timedelta(seconds=1)},
    "a huge number": {"x": 10**5000},
}
odd = pytest.mark.parametrize("data", list(ODD.values()), ids=list(ODD))


@odd
def test_details_of_any_kind_are_stored_as_json(data: dict[str, Any]) -> None:
    found = safe_data(data)
    text = json.dumps(found, allow_nan=False, ensure_ascii=False)
    assert len(text.encode()) <= 2 * limits.EVENT_DATA_BYTES


def test_details_that_json_holds_stay_as_they_are() -> None:
    data = {"a": [1, 2.5, None, True, "ü"], "b": {"c": "d"}}
    assert safe_data(data) == data


def test_a_text_is_utf_8() -> None:
    assert safe_text("half: \ud800, ü").encode() == "half: ?, ü".encode()


@odd
@pytest.mark.parametrize("kind", [NotFound, FetchTimeout])
def test_an_error_with_such_details_ends_its_claim(
    world: WorkerWorld, kind: type[NotFound | FetchTimeout], data: dict[str, Any]
) -> None:
    job = world.run(raising(kind("\ud800", details=data)))
    assert job.status is (JobStatus.FAILED if kind is NotFound else JobStatus.PENDING)
    assert job.last_error is not None
    assert (job.last_error.code, job.locked_by) == (kind.code, None)


@odd
def test_an_event_with_such_data_is_written(world: WorkerWorld, data: dict[str, Any]) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(JobEventKind.METRIC, "noted \ud800", data)
        context.checkpoint("step \ud800", 10)
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED
    assert (1, "metric", "noted ?") in world.timeline


def test_a_job_may_wait_for_anything(world: WorkerWorld) -> None:
    until = world.clock() + timedelta(seconds=60)
    job = world.run(raising(Defer(until, "site \ud800")))
    assert (job.status, job.waiting_for) == (JobStatus.PENDING, "site ?")


def test_a_result_with_half_a_character_is_refused(world: WorkerWorld) -> None:
    job = world.run(lambda _: {"title": "\ud800"})
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == (JobStatus.FAILED, "RESULT_REFUSED")

"""Contract tests of job stores for the sizes of rows: which values they store or reject."""

from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.errors import ValidationFailed
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, claimed, new_job, submit
from tests.fakes.time import START

pytestmark = OF_AWS


def text_of(size: int) -> dict[str, str]:
    """Return a value of `size` bytes of JSON; half of them are escapes, as in a webhook's body."""
    room = size - len(canonical_json({"text": ""}))
    return {"text": '"' * (room // 4) + "x" * (room - 2 * (room // 4))}


@pytest.mark.parametrize(
    "payload",
    [text_of(limits.JOB_PAYLOAD_BYTES + 1), {"score": float("nan")}, {"tags": {"a"}}],
    ids=["too large", "not a number", "a set"],
)
def test_a_payload_that_can_not_be_kept_is_refused_with_all_that_came_with_it(
    store: JobStore, tenant: str, payload: dict[str, Any]
) -> None:
    fine, unfit = new_job(tenant, duplicate_key="free"), new_job(tenant, payload=payload)
    with pytest.raises(ValidationFailed):
        submit(store, fine, unfit)
    assert [store.get(job.ref) for job in (fine, unfit)] == [None, None]
    assert store.find_duplicates(tenant, ["free"]) == {}


def test_the_largest_payload_and_the_largest_result_fit_one_row(
    store: JobStore, tenant: str
) -> None:
    """The other attributes and the events of the last write are at their limits, too."""
    targets = tuple(f"https://{n}.example/{'x' * 1000}" for n in range(10))
    payload, result = text_of(limits.JOB_PAYLOAD_BYTES), text_of(limits.JOB_RESULT_BYTES)
    before = claimed(store, tenant, payload=payload, notify=targets, step="x" * 2048)
    events = [
        factories.event(
            fence=1,
            number=n,
            message="ü" * bounds.EVENT_MESSAGE_CHARS,
            data={"text": "x" * (limits.EVENT_DATA_BYTES - 20)},
        )
        for n in range(limits.EVENTS_PER_WRITE)
    ]
    done = rules.complete(before, result, START + SECOND)
    store.transition(before, done, events, lease=factories.lease(before))
    assert store.get(before.ref) == done
    assert store.events(before.ref, factories.event().id, len(events)) == events

import logging

import pytest

from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.passes import act_on_each

ERRORS = {"outage": DependencyUnavailable("dynamodb", "is down"), "broken": KeyError("url")}


def act(row: str) -> str:
    if row in ERRORS:
        raise ERRORS[row]
    return "done" if row.startswith("d") else "skipped"


def test_a_row_that_fails_leaves_the_others_their_pass(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        results = act_on_each(["d1", "outage", "s1", "broken", "d2"], act, str)

    assert results == {"done": 2, "skipped": 1, "failed": 2}
    logged = [(each.message, each.__dict__["row"], each.levelname) for each in caplog.records]
    assert logged == [
        ("row_postponed", "outage", "WARNING"),
        ("row_failed", "broken", "ERROR"),
    ]
    assert caplog.records[1].exc_info


def test_a_pass_ends_with_its_time() -> None:
    left = iter([True, True, False])

    assert act_on_each(["d1", "broken", "d2"], act, str, lambda: next(left)).total() == 2

"""Outputs of a page, with stubbed responses of the browser."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from spinneret.web.browser import limits
from spinneret.web.browser.models import ScriptOutcome, Scripts
from spinneret.web.browser.tasks import Taker

LEVELS = limits.SCRIPT_RESULT_LEVELS


def outcome_of(value: Any) -> ScriptOutcome:
    """Return the outcome of a script that returns this value."""

    async def ask(_: Any) -> Any:
        return {"result": {"type": "object", "value": value}}

    evaluate = SimpleNamespace(evaluate=lambda *_: None)
    browser: Any = SimpleNamespace(ask=ask, send=SimpleNamespace(Runtime=evaluate))
    page: Any = SimpleNamespace(session="one")
    nothing: Any = None
    taker = Taker(
        devtools=browser,
        watch=nothing,
        page=page,
        documents=nothing,
        monotonic=lambda: 0.0,
        scale=1.0,
    )
    [outcome] = asyncio.run(taker.take(Scripts(sources=("x",)))).scripts
    return outcome


@pytest.mark.parametrize(("levels", "is_taken"), [(LEVELS, True), (LEVELS + 1, False)])
def test_a_value_has_no_more_levels_than_a_response_can_show(levels: int, is_taken: bool) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    assert (outcome_of(value).error is None) is is_taken

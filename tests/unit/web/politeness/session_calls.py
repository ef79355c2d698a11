"""Helpers that open sessions at one host."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from spinneret.web.politeness.models import SessionOptions
from spinneret.web.politeness.ports import HostStateStore
from spinneret.web.politeness.sessions import Session, Sessions, SessionWait
from tests.fakes.politeness import tokens
from tests.fakes.time import HandClock

HOST = "site.example"
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
Logged = Callable[[], list[dict[str, Any]]]


def sessions_at(
    ledger: HostStateStore,
    clock: HandClock,
    *,
    random: float = 0.0,
    is_over: Callable[[str], bool] = lambda _: False,
    **given: Any,
) -> Sessions:
    return Sessions(
        ledger=ledger,
        options=SessionOptions(**given),
        clock=clock,
        random=lambda: random,
        new_token=tokens(),
        is_over=is_over,
    )


def opened(sessions: Sessions, session_id: str = "one", host: str = HOST, **given: Any) -> Session:
    outcome = sessions.open(host, session_id, **given)
    assert isinstance(outcome, Session), outcome
    return outcome


def refused(sessions: Sessions, session_id: str = "two", **given: Any) -> SessionWait:
    outcome = sessions.open(HOST, session_id, **given)
    assert isinstance(outcome, SessionWait), outcome
    return outcome

"""Fixtures: a scripted server, and a record of every connection attempt."""

from collections.abc import Iterator

import pytest

from tests.fakes.guarded_fetch import connect_watch
from tests.fakes.scripted_server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def connects() -> Iterator[list[tuple[str, int]]]:
    """Provide all connection attempts since the test began, as pairs of address and port."""
    with connect_watch().watching() as seen:
        yield seen

"""Fixture: user services on fakes."""

import pytest

from tests.unit.access.people.team import Team, make_team


@pytest.fixture
def team() -> Team:
    return make_team()

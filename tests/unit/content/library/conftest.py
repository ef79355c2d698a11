"""Fixture: a tenant's documents on fakes, behind their routes."""

import pytest

from tests.unit.content.library.library_world import LibraryWorld


@pytest.fixture
def library() -> LibraryWorld:
    return LibraryWorld()

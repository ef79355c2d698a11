"""A tenant's documents on fakes, behind their routes."""

import pytest

from tests.unit.content.library.library_fixture import LibraryFixture


@pytest.fixture
def library() -> LibraryFixture:
    return LibraryFixture()

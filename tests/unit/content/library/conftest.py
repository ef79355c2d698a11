"""A tenant's documents on fakes, behind their routes."""

import pytest

from tests.unit.content.library.shelves import LibraryFixture


@pytest.fixture
def shelves() -> LibraryFixture:
    return LibraryFixture()

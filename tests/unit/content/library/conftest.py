"""A tenant's documents on fakes, behind their routes."""

from __future__ import annotations

import pytest

from tests.unit.content.library.shelves import LibraryFixture


@pytest.fixture
def shelves() -> LibraryFixture:
    return LibraryFixture()

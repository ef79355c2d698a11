"""A tenant's documents on fakes, behind their routes."""

from __future__ import annotations

import pytest

from tests.unit.content.library.shelves import Shelves


@pytest.fixture
def shelves() -> Shelves:
    return Shelves()

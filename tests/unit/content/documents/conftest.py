"""An indexer on fakes."""

from __future__ import annotations

import pytest

from tests.unit.content.documents.indexer_bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()

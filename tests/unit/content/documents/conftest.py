"""An indexer on fakes."""

import pytest

from tests.unit.content.documents.indexer_bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()

"""Fixture: an indexer on fakes."""

import pytest

from tests.unit.content.documents.indexer_world import IndexerWorld


@pytest.fixture
def world() -> IndexerWorld:
    return IndexerWorld()

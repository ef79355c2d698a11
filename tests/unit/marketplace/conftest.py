"""Fixtures of the marketplace tests: a seller's world with stores in memory and fake marketplaces.

With SPINNERET_STORIES_ON_MOTO, as in `make prove`, each test also runs with moto's tables.
"""

import os

import boto3
import pytest

from tests.contract.backends import Tables
from tests.contract.conftest import moto, moto_client, moto_session
from tests.markets.stores import Stores, in_memory, on_tables
from tests.markets.tables import market_tables
from tests.markets.world import MarketWorld

__all__ = ["moto", "moto_client", "moto_session"]


@pytest.fixture
def moto_tables(moto: object, moto_session: boto3.Session) -> Tables:
    return market_tables(moto_session)


_KINDS = ["memory", "moto"] if os.environ.get("SPINNERET_STORIES_ON_MOTO") else ["memory"]


@pytest.fixture(params=_KINDS)
def stores(request: pytest.FixtureRequest) -> Stores:
    """Provide stores; `tests/contract/test_marketplace_stores.py` proves that both kinds agree."""
    if request.param == "memory":
        return in_memory()
    return on_tables(request.getfixturevalue("moto_tables"))


@pytest.fixture
def world(stores: Stores) -> MarketWorld:
    return _connected(stores)


@pytest.fixture
def memory() -> MarketWorld:
    """Provide a world in memory for tests that would take too long with moto."""
    return _connected(in_memory())


def _connected(stores: Stores) -> MarketWorld:
    made = MarketWorld(stores)
    made.connect("ebay")
    made.connect("etsy")
    made.plugin.open()
    return made

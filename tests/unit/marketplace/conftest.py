"""The marketplace area on moto's tables; the marketplaces are fakes in this process."""

from __future__ import annotations

import boto3
import pytest

from tests.contract.backends import Tables
from tests.contract.conftest import moto, moto_client, moto_session
from tests.markets.bench import Bench
from tests.markets.tables import market_tables

__all__ = ["moto", "moto_client", "moto_session"]


@pytest.fixture
def moto_tables(moto: object, moto_session: boto3.Session) -> Tables:
    return market_tables(moto_session)


@pytest.fixture
def bench(moto_tables: Tables) -> Bench:
    made = Bench(moto_tables)
    made.connect("ebay")
    made.connect("etsy")
    made.plugin.open()
    return made

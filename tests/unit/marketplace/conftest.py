"""The marketplace area on moto's tables; the marketplaces are fakes in this process."""

from __future__ import annotations

import pytest

from tests.contract.backends import Tables
from tests.contract.conftest import moto, moto_client, moto_session, moto_table_names, moto_tables
from tests.markets.bench import Bench

__all__ = ["moto", "moto_client", "moto_session", "moto_table_names", "moto_tables"]


@pytest.fixture
def bench(moto_tables: Tables) -> Bench:
    made = Bench(moto_tables)
    made.connect("ebay")
    made.connect("etsy")
    made.plugin.open()
    return made

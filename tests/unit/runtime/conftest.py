"""The API functions on fakes."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.unit.runtime.api import Api


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def key(api: Api) -> str:
    """A key of the tenant `acme` that may read and write."""
    return api.key()


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """An entry point configures the process's logger; later tests want it as it was."""
    logger = logging.getLogger("spinneret")
    before = {**vars(logger), "handlers": logger.handlers[:], "filters": logger.filters[:]}
    yield
    vars(logger).clear()
    vars(logger).update(before)

"""Fixtures for the API functions on fakes."""

import pytest

from tests.unit.runtime.api import Api


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def key(api: Api) -> str:
    """Provide a key of the tenant `acme` that may read and write."""
    return api.key()

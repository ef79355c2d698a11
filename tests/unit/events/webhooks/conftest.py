"""Fixtures for webhook tests on fakes."""

import pytest

from tests.fakes.webhook_world import WebhookWorld


@pytest.fixture
def hooks() -> WebhookWorld:
    return WebhookWorld()

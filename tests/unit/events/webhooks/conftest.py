"""Webhooks on fakes."""

import pytest

from tests.fakes.webhook_slice import WebhookSlice


@pytest.fixture
def hooks() -> WebhookSlice:
    return WebhookSlice()

"""Webhooks on fakes."""

from __future__ import annotations

import pytest

from tests.fakes.webhook_slice import WebhookSlice


@pytest.fixture
def hooks() -> WebhookSlice:
    return WebhookSlice()

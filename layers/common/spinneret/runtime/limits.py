"""Bounds of HTTP requests, each with its source."""

from typing import Final

REQUEST_BODY_MAX_BYTES: Final = 5 * 1024 * 1024  # Lambda takes 6 MB; the event wraps the body
IDEMPOTENCY_KEY_MAX_CHARS: Final = 255  # as Stripe's API
STREAM_RETRY_MS: Final = 1000
GATEWAY_SECONDS: Final = 29.0  # of API Gateway for a whole request

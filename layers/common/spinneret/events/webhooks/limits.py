"""Bounds of webhooks, each with its source."""

from typing import Final

DELIVERY_ATTEMPTS: Final = 5  # P-10
WEBHOOK_ENDPOINTS_MAX: Final = 20  # per tenant: each endpoint may receive every event
WEBHOOK_EVENTS_MAX: Final = 50  # names and wildcards of one endpoint
WEBHOOK_EVENT_MAX_CHARS: Final = 100
WEBHOOK_SECONDS: Final = 15.0  # Standard Webhooks 1.0.0, "Operational considerations": 15 to 30 s
WEBHOOK_EXCERPT_BYTES: Final = 4096  # of a response; enough for the 1000 characters of P-10
WEBHOOK_OLD_SECRET_SECONDS: Final = 24 * 3600.0  # a receiver has a day to switch to the new secret
WEBHOOK_COOLDOWN_FIRST_SECONDS: Final = 10.0  # pause of a target that doesn't respond …
WEBHOOK_COOLDOWN_CAP_SECONDS: Final = 300.0  # … twice as long each time, up to this
WEBHOOK_PERMIT_SECONDS: Final = WEBHOOK_SECONDS + 10.0  # one delivery tests the target
WEBHOOK_WAIT_SECONDS: Final = 24 * 3600.0  # a delivery's attempts and waits together
WEBHOOK_LOG_PAYLOAD_BYTES: Final = 8 * 1024  # of each entry: a page of 100 must fit into a response
WEBHOOK_LOG_SECONDS: Final = 30 * 24 * 3600  # as long as the jobs, which hold the bodies

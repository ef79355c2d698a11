"""Rule function, every five minutes: polls sellers' orders, and retries effects of sales."""

from spinneret.marketplace.publishing_wiring import order_polling
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(order_polling, "order-polling")

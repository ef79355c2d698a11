"""Rule function, every five minutes: has sellers' orders read, and asks again for what a sale left
undone on other marketplaces."""

from __future__ import annotations

from spinneret.marketplace.polling_wiring import order_polling
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(order_polling, "order-polling")

"""Rate limits of sellers on DynamoDB.

Marketplace table
    pk `T#<tenant>#PACE`, sk `<marketplace>`   `free_at` (milliseconds since 1970): when admitted
                                               calls have drained at the steady rate;
                                               `held_until`: end of a hold by the marketplace

One update admits a call: it advances `free_at` by the time of one call, counted from now at the
earliest. Its condition is that `free_at` isn't more than a burst ahead (GCRA).
"""

from datetime import UTC, datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter

CALLS_PER_SECOND: Final = 5  # half of Etsy's published default; eBay limits days, not seconds
BURST: Final = 5
_INTERVAL_MS: Final = 1000 // CALLS_PER_SECOND
_FREE: Final = "attribute_not_exists(#held_until) OR #held_until <= :now"


class DynamoSellerRateLimiter(DynamoAdapter):
    """Implements SellerRateLimiter."""

    def take(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """See SellerRateLimiter: one update after a rest, two for consecutive calls."""
        millis = _millis(now)
        rested = f"({_FREE}) AND (attribute_not_exists(#free_at) OR #free_at <= :now)"
        values = {":now": millis, ":next": millis + _INTERVAL_MS}
        if self._change(tenant, marketplace, "SET #free_at = :next", rested, values) is None:
            return now
        busy = f"({_FREE}) AND #free_at <= :limit"
        values = {":now": millis, ":step": _INTERVAL_MS, ":limit": millis + BURST * _INTERVAL_MS}
        add = "SET #free_at = #free_at + :step"
        standing = self._change(tenant, marketplace, add, busy, values)
        if standing is None:
            return now
        held = int(standing.get("held_until", 0))
        ahead = int(standing.get("free_at", 0)) - BURST * _INTERVAL_MS
        return datetime.fromtimestamp(max(held, ahead, millis + 1) / 1000, UTC)

    def hold(self, tenant: str, marketplace: str, until: datetime) -> None:
        """See SellerRateLimiter; keep an existing hold that ends later."""
        millis = _millis(until)
        shorter = "attribute_not_exists(#held_until) OR #held_until < :until"
        change = "SET #held_until = :until"
        self._change(tenant, marketplace, change, shorter, {":until": millis})

    def _change(
        self, tenant: str, marketplace: str, change: str, condition: str, values: dict[str, int]
    ) -> dict[str, Any] | None:
        """Return None if the update was written, else the unchanged row."""
        row = {"pk": f"T#{tenant}#PACE", "sk": marketplace}
        answer = dynamo.update_or_standing(
            self._client, self._table, row, change, values, condition
        )
        return answer.item if isinstance(answer, dynamo.Standing) else None


def _millis(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)

"""Rate windows on DynamoDB; the key design is in dynamo.py."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from spinneret.access import limits
from spinneret.access.keys import items, rules
from spinneret.access.keys.models import RateLimitStatus, SlidingWindow
from spinneret.aws import dynamo
from spinneret.aws.clients import error_code
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.errors import RateLimited

_RACES: Final = 5  # a retry decides by the winner's window
_SPEND: Final = "SET #count = #count + :one"
_ROOM: Final = "#slot = :slot AND #count < #room"
# DynamoDB Developer Guide, "Error handling": errors for too many requests, by item, table, account.
_THROTTLED: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "Throttling",
        "ThrottlingException",
    }
)


class DynamoRateLimitStore(DynamoAdapter):
    """Implements RateLimitStore: one update per request.

    The first request of a second begins a new slot of the window. It takes one update if this
    process began the slot before, and so has the window; otherwise two, or three if the
    process is wrong about it. If a response is lost, the SDK repeats the update, which may count
    twice.
    """

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._begun: dict[tuple[str, str], SlidingWindow] = {}
        """Windows whose latest slot this process began, as it wrote them last."""

    def take(self, tenant: str, key_id: str, limit: int, now: datetime) -> RateLimitStatus:
        admitted, window = self._take((tenant, key_id), limit, now)
        return rules.allowance(window, limit, now, admitted=admitted)

    def _take(self, key: tuple[str, str], limit: int, now: datetime) -> tuple[bool, SlidingWindow]:
        """Return whether the request was admitted, and the window."""
        place, slot, known = items.window_key(*key), rules.slot_of(now), self._begun.pop(key, None)
        if known is not None and known.slot < slot:
            changed = rules.counted(known, limit, now)
            if changed is not None and self._replace(place, known, changed):
                self._remember(key, changed)
                return True, changed
        for _ in range(_RACES):
            admitted, window = self._spend(place, slot)
            if admitted:
                if known is not None and known.slot == window.slot:
                    self._remember(key, window)
                return True, window
            changed = rules.counted(window, limit, now)
            if changed is None:
                return False, window
            slot = changed.slot
            # A window can only have room here if this clock lags: the next update spends it.
            if not rules.has_room(window, slot) and self._replace(place, window, changed):
                self._remember(key, changed)
                return True, changed
        raise RateLimited("a rate window is contended")

    def _remember(self, key: tuple[str, str], window: SlidingWindow) -> None:
        if len(self._begun) >= limits.KEYS_KNOWN_MAX:
            self._begun.clear()
        self._begun[key] = window

    def _spend(self, place: dynamo.Item, slot: int) -> tuple[bool, SlidingWindow]:
        """Spend one request; return whether the window had room in this slot, and the window."""
        admitted, item = self._update(place, _SPEND, (_ROOM, {":one": 1, ":slot": slot}))
        return admitted, items.window_from_item(item) if item else rules.UNUSED

    def _replace(self, place: dynamo.Item, former: SlidingWindow, changed: SlidingWindow) -> bool:
        """Replace a window; return False if it changed meanwhile.

        Every write raises the count or begins a later slot, so comparing the two suffices.
        """
        attributes = items.window_attributes(changed)
        assignments = "SET " + ", ".join(f"#{name} = :to_{name}" for name in attributes)
        unused = former == rules.UNUSED
        expression, values = dynamo.equals(
            slot=None if unused else former.slot, count=None if unused else former.count
        )
        values = {**values, **{f":to_{name}": value for name, value in attributes.items()}}
        return self._update(place, assignments, (expression, values))[0]

    def _update(
        self, place: dynamo.Item, assignments: str, condition: dynamo.Condition
    ) -> tuple[bool, Mapping[str, Any]]:
        """Return whether the condition was met, and the updated or unchanged item."""
        expression, values = condition
        answer = dynamo.write_or_standing(
            _throttling_refuses()(self._client.update_item),
            TableName=self._table,
            Key=place,
            UpdateExpression=assignments,
            ConditionExpression=expression,
            ExpressionAttributeNames=dynamo.names_in(f"{assignments} {expression}"),
            ExpressionAttributeValues=values,
            ReturnValues="ALL_NEW",
        )
        if isinstance(answer, dynamo.Standing):
            return False, answer.item
        return True, answer["Attributes"]


@contextmanager
def _throttling_refuses() -> Iterator[None]:
    """Map throttling errors to RateLimited."""
    try:
        yield
    except ClientError as error:
        if error_code(error) in _THROTTLED:
            raise RateLimited("too many requests at once") from error
        raise

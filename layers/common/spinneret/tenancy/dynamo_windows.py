"""Rate windows on DynamoDB; the key design is in dynamo.py."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from spinneret.adapters import dynamo
from spinneret.adapters.aws import error_code, translated
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.tenancy import items, rules
from spinneret.tenancy.models import Allowance, RateWindow

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_RACES: Final = 5  # after one lost race the minute's window stands and the next update decides
_SPEND: Final = "SET #count = #count + :one, #opens_at = #opens_at + #step"
_OPEN: Final = "#minute = :minute AND #count < :limit AND #opens_at <= :now"


class DynamoRateWindows:
    """Implements RateWindows: one update per request, two for the first one of a minute.

    An update whose answer is lost is sent again by the SDK and may count twice.
    """

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def take(self, tenant: str, key_id: str, limit: int, now: datetime) -> Allowance:
        """See RateWindows."""
        place = items.window_key(tenant, key_id)
        moment = now
        for _ in range(_RACES):
            admitted, window = self._spend(place, limit, moment)
            if window is not None:
                moment = max(moment, rules.start_of(window.minute))
            if window is None or window.minute < rules.minute_of(moment):
                begun = rules.begun(window, limit, moment)
                if self._begin(place, window, begun):
                    return rules.allowance(begun, limit, moment, admitted=True)
            elif admitted or not rules.admits(window, limit, moment):
                return rules.allowance(window, limit, moment, admitted=admitted)
        raise DependencyUnavailable("dynamodb", "a rate window is contended")

    def _spend(
        self, place: items.Item, limit: int, moment: datetime
    ) -> tuple[bool, RateWindow | None]:
        """Whether the window of this minute took the request, and the window as it stands."""
        values = {
            ":one": 1,
            ":minute": rules.minute_of(moment),
            ":limit": limit,
            ":now": rules.microseconds(moment),
        }
        admitted, item = self._update(place, _SPEND, (_OPEN, values))
        return admitted, items.window_from_item(item) if item else None

    def _begin(self, place: items.Item, former: RateWindow | None, begun: RateWindow) -> bool:
        """Put a new minute's window in place of the former; False when somebody else did."""
        attributes = items.window_attributes(begun)
        assignments = "SET " + ", ".join(f"#{name} = :to_{name}" for name in attributes)
        expression, values = dynamo.equals(
            minute=former.minute if former else None, count=former.count if former else None
        )
        values = {**values, **{f":to_{name}": value for name, value in attributes.items()}}
        return self._update(place, assignments, (expression, values))[0]

    def _update(
        self, place: items.Item, assignments: str, condition: dynamo.Condition
    ) -> tuple[bool, Mapping[str, Any]]:
        """Whether the condition held, and the item after the update or as it stands."""
        expression, values = condition
        try:
            with translated("dynamodb"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=place,
                    UpdateExpression=assignments,
                    ConditionExpression=expression,
                    ExpressionAttributeNames=dynamo.names_in(f"{assignments} {expression}"),
                    ExpressionAttributeValues=values,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            if error_code(error) != "ConditionalCheckFailedException":
                raise
            return False, dynamo.plain(error.response.get("Item"))
        return True, answer["Attributes"]

"""Convert results to DynamoDB items and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.kernel.clock import epoch_seconds, to_iso
from spinneret.kernel.typed_json import TypedJson
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckResult

Item = dict[str, Any]
_RESULTS: Final = TypedJson(CheckResult)


def partition(tenant: str, target_id: str) -> str:
    """Return the partition key of a target's results."""
    return f"T#{tenant}#RESULTS#{target_id}"


def position(result: CheckResult) -> str:
    """Return the sort key of a result."""
    return f"{to_iso(result.checked_at)}#{result.id}"


def behind(moment: datetime) -> str:
    """Return a sort key that follows all keys of this moment."""
    return f"{to_iso(moment)}$"


def result_item(tenant: str, target_id: str, result: CheckResult) -> Item:
    """Build the item of a result."""
    return {
        "pk": partition(tenant, target_id),
        "sk": position(result),
        "result": _RESULTS.dump(result),
        "purge_at": epoch_seconds(result.checked_at) + limits.CHECK_RESULT_SECONDS,
    }


def result_of(item: Mapping[str, Any]) -> CheckResult:
    """Parse a result from its item."""
    return _RESULTS.load(item["result"])

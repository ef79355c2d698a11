"""Convert figures to DynamoDB items and back.

Each figure is a separate attribute, so that an hour can be added to a day without reading it.
Figures of 0 are omitted. Latency bucket 57 is the attribute `l57`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from spinneret.monitoring.rollups.models import NUMBERS, Rollup


def partition(tenant: str, target_id: str) -> str:
    """Return the partition key of a target's figures."""
    return f"T#{tenant}#FIGURES#{target_id}"


def checked_partition(tenant: str) -> str:
    """Return the partition key of the checks of all targets."""
    return f"T#{tenant}#CHECKED"


def hour_name(hour: datetime) -> str:
    """Return the sort key of an hour."""
    return f"H#{hour:%Y-%m-%dT%H}"


def day_name(day: datetime) -> str:
    """Return the sort key of a day."""
    return f"D#{day:%Y-%m-%d}"


def moment_of(name: str) -> datetime:
    """Parse the time of an hour's or a day's sort key."""
    kind, _, text = name.partition("#")
    form = "%Y-%m-%dT%H" if kind == "H" else "%Y-%m-%d"
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def tally_of(item: Mapping[str, Any]) -> Rollup:
    """Parse the figures of an item."""
    latencies = {
        int(name[1:]): int(count)
        for name, count in item.items()
        if name[0] == "l" and name[1:].isdigit()
    }
    return Rollup(
        **{name: int(item.get(name, 0)) for name in NUMBERS},
        latencies=dict(sorted(latencies.items())),
    )


def numbers_of(tally: Rollup) -> dict[str, int]:
    """Return an item's attributes: the figures other than 0."""
    numbers = {name: getattr(tally, name) for name in NUMBERS}
    numbers |= {f"l{bucket}": count for bucket, count in tally.latencies.items()}
    return {name: number for name, number in numbers.items() if number}

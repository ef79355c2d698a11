"""What a test recorded and logged."""

import json
from typing import Any

from spinneret.kernel import metrics


def recorded() -> dict[str, list[float]]:
    """Values since the last call by name, and by `name.value` for a metric with a dimension."""
    return {
        metric.name if place is None else f"{metric.name}.{place[1]}": values
        for place, found in metrics.take().items()
        for metric, values in found.items()
    }


def lines_of(text: str) -> list[dict[str, Any]]:
    """Log lines without those of metrics."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if "_aws" not in line]


def metrics_of(text: str) -> list[dict[str, Any]]:
    """The lines of metrics among log lines."""
    return [line for each in text.splitlines() if "_aws" in (line := json.loads(each))]

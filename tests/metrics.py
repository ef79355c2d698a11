"""Metrics and log lines of a test."""

import json
from typing import Any

from spinneret.kernel import metrics


def recorded() -> dict[str, list[float]]:
    """Return the values recorded since the last call, by metric.

    The key is the metric's name, or `name.value` for a metric with a dimension.
    """
    return {
        metric.name if place is None else f"{metric.name}.{place[1]}": values
        for place, found in metrics.take().items()
        for metric, values in found.items()
    }


def lines_of(text: str) -> list[dict[str, Any]]:
    """Return the log lines except the lines of metrics."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if "_aws" not in line]


def metrics_of(text: str) -> list[dict[str, Any]]:
    """Return only the lines of metrics."""
    return [line for each in text.splitlines() if "_aws" in (line := json.loads(each))]

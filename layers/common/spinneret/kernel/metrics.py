"""Figures of a log line that CloudWatch keeps as metrics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from spinneret.kernel.clock import epoch_seconds


def emf_fields(now: datetime, units: Mapping[str, str]) -> dict[str, Any]:
    """Extra fields for a log line that has these names as fields, with their units.

    CloudWatch reads them out of the log (Embedded Metric Format), by the field `function` that
    every line has: no call, and no permission for one.
    """
    metrics = [{"Name": name, "Unit": unit} for name, unit in units.items()]
    directive = {"Namespace": "Spinneret", "Dimensions": [["function"]], "Metrics": metrics}
    return {"_aws": {"Timestamp": 1000 * epoch_seconds(now), "CloudWatchMetrics": [directive]}}

"""Log fields that CloudWatch turns into metrics."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from spinneret.kernel.clock import epoch_seconds

metrics_logger = logging.getLogger("spinneret.metrics")
"""Logger of lines with metrics, which the stage's log level doesn't drop."""


def emf_fields(now: datetime, units: Mapping[str, str]) -> dict[str, Any]:
    """Return extra fields that declare a log line's fields as metrics, with their units.

    CloudWatch reads them from the log (Embedded Metric Format), by the field `function` of every
    line. This needs no call and no permission.
    """
    metrics = [{"Name": name, "Unit": unit} for name, unit in units.items()]
    directive = {"Namespace": "Spinneret", "Dimensions": [["function"]], "Metrics": metrics}
    return {"_aws": {"Timestamp": 1000 * epoch_seconds(now), "CloudWatchMetrics": [directive]}}

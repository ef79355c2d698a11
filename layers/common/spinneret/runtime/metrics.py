"""Write an invocation's metrics to its log, in CloudWatch's Embedded Metric Format."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import (
    AmazonCloudWatchEMFProvider,
)

from spinneret.kernel import metrics
from spinneret.kernel.settings import read, text

NAMESPACE: Final = text("POWERTOOLS_METRICS_NAMESPACE", "spinneret")


@contextmanager
def measured(function: str) -> Iterator[None]:
    """Write all metrics of the block at its end: one line, and one for each dimension's value."""
    try:
        yield
    finally:
        write(function)


def write(function: str) -> None:
    """Write what was recorded since the last call; the name of the function joins each line."""
    namespace = read(os.environ, (NAMESPACE,))[NAMESPACE.name]
    for place, recorded in metrics.take().items():
        line = AmazonCloudWatchEMFProvider(namespace=namespace, metadata_set={"function": function})
        if place is not None:
            line.add_dimension(*place)
        for metric, values in recorded.items():
            for value in values:
                line.add_metric(metric.name, metric.unit, value)  # writes 100 values itself
        if line.metric_set:
            line.flush_metrics()

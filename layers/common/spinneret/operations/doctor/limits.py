"""Bounds of the examination, each with its source."""

from collections.abc import Mapping
from typing import Final

RESOURCES_MAX: Final = 500  # of a stack (CloudFormation quotas)
RESOURCES_SHARE: Final = 0.9  # above this share, the next function may not fit
CONCURRENCY_MIN: Final = 100  # concurrent executions of an account; new accounts have 10
CONCURRENCY_SHARE: Final = 0.8  # of the account's; above it, a peak may be throttled
API_RPS_MIN: Final = 100.0  # requests a second to all APIs of an account
KEY_SPARE_SECONDS: Final = 24 * 3600  # a schedule that failed for a day
AGES_SECONDS: Final[Mapping[str, float]] = {"high": 300.0, "normal": 3600.0, "low": 21600.0}
"""Age of the oldest message by lane; as the alarms have it, which wait five minutes."""
INDEX_SECONDS: Final = 10
READY_SECONDS: Final = 35  # API Gateway answers within 29 s
DRIFT_SHARE: Final = 0.05  # the index counts documents with an error of some percent
SCAN_PAGES: Final = 10  # of 1 MB; more documents aren't counted

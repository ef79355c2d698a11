"""Bounds of checks and targets, each with its source."""

from typing import Final

CHECK_INTERVAL_SECONDS: Final = 15  # M-02, the stage's default
CHECK_INTERVAL_MIN_SECONDS: Final = 10
CHECK_INTERVAL_MAX_SECONDS: Final = 24 * 3600  # the hours of three such fit into a transaction
CHECK_RETRY_MIN_SECONDS: Final = 60  # of an owner's `retry_seconds`
CHECK_FIRST_SECONDS: Final = 3600  # a new or changed target waits no longer for its check
CHECK_CONCURRENCY: Final = 8  # M-02
CHECK_SECONDS: Final = 5.0  # M-03
CHECK_RETRIES: Final = (0.2, 0.4)  # M-03: seconds before the second and the third try
CHECK_WAITS_SECONDS: Final = 4.0  # for the host's rate limit: a few SHORT_WAIT_SECONDS, and writes
CHECK_BODY_BYTES: Final = 1024 * 1024  # read, hashed and asserted on; the rest is ignored
CHECK_REDIRECTS: Final = 10  # as lychee
CHECK_RESULT_SECONDS: Final = 7 * 24 * 3600  # raw results; at 15 s, 40,000 rows for each target
HOUR_RETENTION_SECONDS: Final = 40 * 24 * 3600  # of hourly rollups: windows of 24 h and 7 d
DAY_RETENTION_SECONDS: Final = 400 * 24 * 3600  # of daily rollups, and incidents: a year's window
OUTCOME_HOLDS_INTERVALS: Final = 3  # intervals for which an outcome is valid
CHECK_SKIPS_REPORTED: Final = 4  # consecutive skips: a minute at the default interval
CHECK_ROUND_TARGETS: Final = 1200  # for one worker and tick: a minute of checks of 50 ms
CHECKS_PER_MESSAGE: Final = 20  # ten messages of them are a batch of SQS: at most 200 of 256 KB
CHECK_RETRY_SECONDS: Final = 1  # after a busy host or worker: with SQS's delay less than two
CHECK_SHARDS: Final = 8  # of the due index
CHECK_READ_TARGETS: Final = 12_500  # read from a shard per tick: some 2 MB
PACED_READ_TARGETS: Final = 100  # of a host, when a target is made or changed: two reads
TARGETS_PER_TENANT: Final = 10_000  # the stage's default: at 15 s each 670 checks a second
TARGET_NAME_MAX_CHARS: Final = 100
TARGET_THRESHOLD_MAX: Final = 20  # consecutive checks
FAILURE_THRESHOLD: Final = 3  # Gatus
RECOVERY_THRESHOLD: Final = 2  # Gatus
REMINDER_MIN_MINUTES: Final = 5  # Gatus
REMINDER_MAX_MINUTES: Final = 7 * 24 * 60
CERTIFICATE_DAYS: Final = (21, 14, 7)  # Uptime Kuma
CERTIFICATE_DAYS_MAX: Final = 5  # warnings of one target
INCIDENT_ENTRIES: Final = 50  # Gatus: events kept
CONDITIONS_MAX: Final = 10  # of one target
CONDITION_MAX_CHARS: Final = 500
WINDOWS_MAX: Final = 50  # of maintenance, per tenant: a check evaluates all of them
WINDOW_MINUTES_MAX: Final = 7 * 24 * 60
WINDOW_TARGETS_MAX: Final = 100
RECURRENCE_MAX_CHARS: Final = 200
CHECKED_SHARDS: Final = 16  # rows of a day; 10,000 targets complete an hour within a minute
IMPORT_LINES_MAX: Final = 500  # the job's result contains the outcome of each
IMPORT_SLICE_LINES: Final = 16  # six rows each, in one transaction of 100

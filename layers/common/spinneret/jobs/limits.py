"""Bounds of jobs, each with its source."""

from typing import Final

from spinneret.kernel import bounds

LEASE_MAX_SECONDS: Final = 300.0  # P-02
EFFECT_MARGIN_SECONDS: Final = 2 * bounds.CLOCK_SKEW_SECONDS  # one clock behind, another one ahead
BACKOFF_CAP_SECONDS: Final = 300.0  # ruling "Backoff"
OWN_FAULT_CAP_SECONDS: Final = 60.0  # ruling "Backoff"
OWN_FAULT_LIMIT_SECONDS: Final = 3600.0  # ruling "Backoff": an hour of waiting
OUTCOME_TRIES: Final = 20  # writes of one outcome: over two minutes, if lease and deadline allow it
OUTCOME_CAP_SECONDS: Final = 16.0  # … with full jitter between two of them
JOB_PAYLOAD_BYTES: Final = 160 * 1024  # of JSON: a webhook's body and headers, all escapes, …
JOB_RESULT_BYTES: Final = 192 * 1024  # … and the result stay below the 400 KB of DynamoDB's items
JOB_REPLY_BYTES: Final = 384 * 1024  # of JSON: a stored reply stays below the same 400 KB
CHILD_SHARDS: Final = 12  # counters of one parent: all of them in one transaction of 100
CHILDREN_PER_SHARD: Final = 250
CHILDREN_CHECK_SECONDS: Final = 60.0  # until the sweeper checks for a missed end of a parent
CHILDREN_CANCELLED_PER_REQUEST: Final = 100  # the sweeper cancels the others
CHILDREN_CANCELLED_PER_PASS: Final = 500
INDEX_LAG_SECONDS: Final = 20.0  # after a write, every index shows it, by the clock of any process
OUTLIVES_ROW_SECONDS: Final = 7 * 24 * 3600  # TTL deletes rows days late, each when it likes
ROWS_SPARE_SECONDS: Final = 14 * 24 * 3600  # most jobs end within: their rows' TTL needs no write
PLAN_ROW_BYTES: Final = 320 * 1024  # of JSON in one row, below the 400 KB of DynamoDB's items
PLAN_BYTES: Final = 3 * 1024 * 1024  # in one transaction of at most 4 MB
REDRIVE_FIRST_SECONDS: Final = 30.0
REDRIVE_CAP_SECONDS: Final = 300.0  # P-08
EVENT_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-06
EVENT_AHEAD_SECONDS: Final = 60.0  # P-06: a timeline has no event further in the future
EVENT_DATA_BYTES: Final = 8 * 1024  # 100 events are below API Gateway's and DynamoDB's limits
EVENT_ROW_BYTES: Final = 128 * 1024  # of JSON in one row, which may have one event more
STEPS_HELD_SECONDS: Final = 2.0  # after a write, before the next step is written, too
EVENTS_PER_WRITE: Final = 70  # a DynamoDB transaction has 100 writes: a parent's rows, its end, …
RESEND_GRACE_SECONDS: Final = 30.0  # a pending job unclaimed for this long is sent again …
RESEND_CAP_SECONDS: Final = 3600.0  # … and twice as long later each time, if it may still be queued
WAIT_SECONDS: Final = 25  # of a request for a job; API Gateway ends the request after 29 s
POLL_FIRST_SECONDS: Final = 0.1  # pause of such a wait between two reads of the job's row, …
POLL_CAP_SECONDS: Final = 1.0  # … which doubles up to this
PUSH_SECONDS: Final = 1.0  # architecture, section 4: for all watchers of a job together
ENDING_SECONDS: Final = 10.0  # for all sockets of a key; API Gateway ends a request after 29 s
JOBS_PER_CONNECTION: Final = 20
CATCH_UP_PAGES: Final = 10  # of LIST_LIMIT_MAX events each; the route returns longer timelines
SOCKET_MESSAGE_BYTES: Final = 96 * 1024  # API Gateway: 128 KB, less the frame around the events
SOCKET_REQUEST_CHARS: Final = 4096
DEAD_LETTER_MOVES: Final = 3  # ruling "Redrive": number of times a dead letter is sent back …
DEAD_LETTERS_PER_PASS: Final = 100  # … and letters handled in one pass
DEAD_LETTER_HIDDEN_SECONDS: Final = 11 * 3600  # SQS: hidden for at most 12 h in all after receipt
LONG_WAIT_LEAD_SECONDS: Final = 840.0  # lead time of a long wait's delayed message
LANE_BACKLOG_MESSAGES: Final = 10  # a lane with more visible messages gets no resends …
BACKLOG_RESEND_SECONDS: Final = 6 * 3600.0  # … except for jobs that have waited this long
HOLD_KNOWN_SECONDS: Final = 5.0  # a process may run a suspended tenant's work for this long
HOLDS_KNOWN_MAX: Final = 1000  # tenants that a process remembers
PARENT_KNOWN_SECONDS: Final = 2.0  # a child of a cancelled parent may begin for this long
PARENTS_KNOWN_MAX: Final = 100  # parents that a process remembers
HOLD_WAIT_SECONDS_MIN: Final = 15.0  # pause of a suspended tenant's job before it is tried again
WAKE_SHARDS: Final = 8
RESEND_SHARDS: Final = 4  # for each kind and priority
LATE_EXPIRY_SECONDS: Final = 48 * 3600.0  # after a job is due: it is sent again long before
SWEEP_PAGE: Final = 100  # jobs of a shard before the next shard is read
SWEEP_WAKES: Final = 4000  # maximum jobs that a pass wakes; 3 calls each
SWEEP_RESENDS: Final = 500  # maximum messages that a pass resends to one lane; 3 calls each
SWEEP_WAKE_SECONDS: Final = 30.0  # time of a pass for waking; …
SWEEP_SECONDS: Final = 40.0  # … with resends; its function also relays events, and has 70 s

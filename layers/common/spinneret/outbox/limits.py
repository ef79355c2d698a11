"""Bounds of the outbox, each with its source."""

from typing import Final

OUTBOX_SHARDS: Final = 8  # as many as the jobs' index has
OUTBOX_PAGE: Final = 100  # events of a subject, or of a shard, per read
OUTBOX_SUBJECTS: Final = 4000  # maximum subjects per sweep of the outbox; 6 calls each
OUTBOX_RELAYS: Final = 16  # subjects that a sweep relays at a time: 2,000 in one sweep
OUTBOX_SWEEP_SECONDS: Final = 15.0  # time of a sweep; its function is also the jobs' sweeper
OUTBOX_SUBJECT_SECONDS: Final = 5.0  # time for the events of one subject; a later pass continues
OUTBOX_GRACE_SECONDS: Final = 30.0  # an event that its writer hasn't relayed by then is swept
OUTBOX_RETRY_SECONDS: Final = 5.0  # a failed sink is retried after this, by every sweep …
OUTBOX_GIVE_UP_SECONDS: Final = 24 * 3600  # … for a day
OUTBOX_CRASH_FIRST_SECONDS: Final = 30.0  # an event whose relay died is retried after this time …
OUTBOX_CRASH_CAP_SECONDS: Final = 3600.0  # … then after twice as long each time, up to this
OUTBOX_KEPT_SECONDS: Final = 30 * 24 * 3600  # retention of a relayed event, as of a job's timeline

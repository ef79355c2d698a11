"""Every bound of the product, each with its origin (T-06, F-01 … are rows of the requirements)."""

from __future__ import annotations

from typing import Final

URL_MAX_CHARS: Final = 2048  # T-06
QUERY_MAX_CHARS: Final = 1000  # T-06
REQUEST_BODY_MAX_BYTES: Final = (
    5 * 1024 * 1024
)  # Lambda takes 6 MB of event; the event wraps the body
URLS_PER_CRAWL: Final = 20  # two rows per URL in one DynamoDB transaction of at most 100
IDEMPOTENCY_KEY_MAX_CHARS: Final = 255  # as Stripe's API

FETCH_TOTAL_SECONDS: Final = 30.0  # F-01
FETCH_READ_SECONDS: Final = 10.0  # one silent read; the total above still holds
FETCH_MAX_BYTES: Final = 10 * 1024 * 1024  # F-01, default
CRAWL_MAX_BYTES: Final = 50 * 1024 * 1024  # F-01, for crawls
CRAWL_MAX_REDIRECTS: Final = 10  # F-01, for crawls
FETCH_MAX_REDIRECTS: Final = 5  # F-01, default

CHUNK_TOKENS: Final = 512  # C-04
CHUNK_OVERLAP_TOKENS: Final = 50  # C-04
CHUNK_MIN_TOKENS: Final = 50  # C-04
CHUNK_MAX_BYTES: Final = 10 * 1024  # T-06
EMBED_BATCH: Final = 32  # C-05; also the default max_client_batch_size of TEI
EMBED_SECONDS: Final = 60.0  # ruling "Embeddings"
EMBED_ATTEMPTS: Final = 3  # ruling "Embeddings"
EMBED_MIN_NORM: Final = 0.1  # ruling "Embeddings", before normalising

SEARCH_LIMIT_DEFAULT: Final = 10  # ruling "Defaults"
SEARCH_LIMIT_MAX: Final = 100  # ruling "Defaults"
SEARCH_WINDOW: Final = 100  # candidates per leg: over-fetching for hits of outdated versions
RRF_K: Final = 60  # S-02; Cormack, Clarke and Büttcher, SIGIR 2009
SEARCH_SECONDS: Final = 10.0  # API Gateway ends a request after 29 s

LEASE_MAX_SECONDS: Final = 300.0  # P-02
LEASE_MARGIN_SECONDS: Final = 5.0  # added to what the invocation has left
DEADLINE_MARGIN_SECONDS: Final = 5.0  # a worker hands back when less is left
JOB_MAX_ATTEMPTS: Final = 3  # P-01
BACKOFF_CAP_SECONDS: Final = 300.0  # ruling "Backoff"
OWN_FAULT_CAP_SECONDS: Final = 60.0  # ruling "Backoff"
OWN_FAULT_LIMIT_SECONDS: Final = 3600.0  # ruling "Backoff": an hour of waiting
JOB_WORK_SECONDS: Final = 300.0  # ruling "Backoff": job_timeout, under claims of one run
REDRIVES: Final = 5  # ruling "Redrive": crawl, discovery, delivery
REDRIVE_FIRST_SECONDS: Final = 30.0
REDRIVE_CAP_SECONDS: Final = 300.0  # P-08
RESULT_FRESH_SECONDS: Final = 24 * 3600  # rulings "Duplicate" and P-05
JOB_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-14
EVENT_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-06
IDEMPOTENCY_SECONDS: Final = 24 * 3600  # P-05
RESEND_GRACE_SECONDS: Final = 30.0  # a pending job unclaimed for this long is sent again …
RESEND_CAP_SECONDS: Final = 900.0  # … then after twice as long each time, up to this
SQS_MAX_DELAY_SECONDS: Final = 900  # SQS: DelaySeconds
LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAX: Final = 100  # BatchGetItem takes 100 keys
LIST_READ: Final = 200  # index rows per query of a list …
LIST_READS: Final = 5  # … and queries per page: filters look at a bounded number of rows
STREAM_SECONDS: Final = 5.0  # architecture, section 4: a long poll answers after this at the latest
STREAM_POLL_SECONDS: Final = 0.25
STREAM_RETRY_MS: Final = 1000
DEAD_LETTER_MOVES: Final = 3  # ruling "Redrive": a dead letter goes back this often …
DEAD_LETTERS_PER_PASS: Final = 100  # … and so many in one pass
DEAD_LETTER_REST_SECONDS: Final = 12 * 3600  # SQS: the longest visibility time-out
SWEEP_SHARDS: Final = 8
SWEEP_PAGE: Final = 100  # jobs per shard and pass

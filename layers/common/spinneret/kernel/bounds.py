"""Bounds that several packages share, each with its source (T-06, F-01 … are requirements).

Bounds of one package are in its module `limits`.
"""

from typing import Final

URL_MAX_CHARS: Final = 2048  # T-06
QUERY_MAX_CHARS: Final = 1000  # T-06

FETCH_TOTAL_SECONDS: Final = 30.0  # F-01

CHUNK_TOKENS: Final = 512  # C-04
CHUNK_OVERLAP_TOKENS: Final = 50  # C-04
CHUNK_MIN_TOKENS: Final = 50  # C-04
SEARCH_SECONDS: Final = 10.0  # API Gateway ends a request after 29 s
DOWNLOAD_SECONDS: Final = 900  # lifetime of a body's presigned URL

AWS_CONNECT_SECONDS: Final = 1.0
AWS_READ_SECONDS: Final = 2.0  # DynamoDB, SQS and KMS answer within milliseconds
AWS_CALL_SECONDS: Final = 7.0  # all tries, and a second between them (botocore, mode "standard")

CLOCK_SKEW_SECONDS: Final = 5.0  # how far a process's clock may be ahead or behind
LEASE_MARGIN_SECONDS: Final = CLOCK_SKEW_SECONDS  # added to the invocation's remaining time
DEADLINE_MARGIN_SECONDS: Final = (  # release below this: time for one write and one message
    AWS_CALL_SECONDS + AWS_CONNECT_SECONDS + AWS_READ_SECONDS
)
JOB_MAX_ATTEMPTS: Final = 3  # P-01
RETRY_DELAYS_SECONDS: Final = (1.0, 2.0, 4.0)  # P-03; the default of JOB__RETRY_DELAYS_S
JOB_WAIT_MAX_SECONDS: Final = 24 * 3600.0  # for one attempt, even if the remote side asks for more
JOB_PENDING_SECONDS: Final = 7 * 24 * 3600.0  # maximum wait of crawls and deliveries
EXECUTION_START_SECONDS: Final = 120.0  # until the first step of an execution holds the claim
CHILDREN_PER_WRITE: Final = 20  # four rows each, plus the parent's row and the counters
JOB_WORK_SECONDS: Final = 300.0  # ruling "Backoff": job_timeout, under claims of one run
REDRIVES: Final = 5  # ruling "Redrive": crawl, discovery
RESULT_FRESH_SECONDS: Final = 24 * 3600  # rulings "Duplicate" and P-05
JOB_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-14
EVENT_MESSAGE_CHARS: Final = 1000
EFFECT_RETENTION_SECONDS: Final = 90 * 24 * 3600  # longer than any job that could repeat the effect
JOB_ROWS_SECONDS: Final = (  # of a job's further rows, after their last write: it may be paused …
    EFFECT_RETENTION_SECONDS  # … for as long as its side effects are remembered
)
IDEMPOTENCY_SECONDS: Final = 24 * 3600  # P-05
SQS_MAX_DELAY_SECONDS: Final = 900  # SQS: DelaySeconds
KEY_REQUESTS_PER_MINUTE_MAX: Final = 6000  # a tenth of the writes that one DynamoDB item takes
LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAX: Final = 100  # BatchGetItem takes 100 keys
LIST_READ: Final = 200  # index rows per query of a list …
LIST_READS: Final = 5  # … and queries per page: filters look at a bounded number of rows
SUBSCRIBERS_PER_JOB: Final = 20
CONNECTION_SECONDS: Final = 3 * 3600  # API Gateway ends a connection after two hours
SWEEP_REFUSALS: Final = 5  # consecutive calls without an answer that end a pass
OUTBOX_DATA_BYTES: Final = 63 * 1024  # of JSON: with metadata, a webhook has at most 64 KB
ROBOTS_MAX_REDIRECTS: Final = 5  # RFC 9309, section 2.3.1.2
ROBOTS_MAX_BYTES: Final = 500 * 1024  # RFC 9309, section 2.5: the rest isn't read

DOMAIN_RATE: Final = 1.0  # F-06: requests per second and host, default
DOMAIN_BURST: Final = 5  # F-06, default
RETRY_AFTER_MAX_SECONDS: Final = 3600.0  # maximum pause that a site may impose by one answer
REDIRECT_WAITS_SECONDS: Final = 3.0  # per fetch: three short waits for a redirect's host
DOMAIN_RATE_MIN: Final = 1 / 3600  # F-09: at a lower rate, no slot could be reserved within an hour
SEALED_MAX_BYTES: Final = 4096  # KMS: Encrypt with a symmetric key

WEBHOOK_NAME_MAX_CHARS: Final = 100
WEBHOOK_SECRET_MAX_CHARS: Final = 100  # Standard Webhooks allows at most 94 characters

INBOX_MAX_BYTES: Final = 100 * 1024 * 1024  # 100,000 lines with their options, 1 KB each

CRAWL_PAGES_MAX: Final = 1000  # C-06
CRAWL_DEPTH_MAX: Final = 100  # limits a chain of "next" links; three digits in a crawl's order
CRAWL_SEEDS_MAX: Final = 100  # of 2 KB each: they are in the crawl's own item
CRAWL_KEYWORDS_MAX: Final = 50
CRAWL_KEYWORD_MAX_CHARS: Final = 100
FRONTIER_SECONDS: Final = 30 * 24 * 3600.0  # a crawl that lasts longer ends
PAGE_ATTEMPTS: Final = 3  # P-01, for pages
URL_PATTERNS_MAX: Final = 50  # each, to include and to exclude
URL_PATTERN_MAX_CHARS: Final = 500
SITEMAP_MAX_BYTES: Final = 50 * 1024 * 1024  # sitemaps.org, protocol: uncompressed
SITEMAP_MAX_URLS: Final = 50_000  # sitemaps.org, protocol: of one file
CDX_MAX_BYTES: Final = 50 * 1024 * 1024
CDX_CAPTURES_MAX: Final = 50_000
CRON_LINE_MAX_CHARS: Final = 100

OAUTH_STATE_SECONDS: Final = 600  # from connect to callback: log in, agree
JSON_LEVELS_MAX: Final = 100  # of stored values: pydantic serialises 255, with those around them
HOST_NAME_MAX_CHARS: Final = 253  # RFC 1035, section 2.3.4, as text
